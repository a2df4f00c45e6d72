//! Tasks beside a computation: polled at its split points, or by a spare that came for them. None is forgotten,
//! and one that is shows as a deadlock, or as a model without an end.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::{Pipe, Pool, Reader};
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

fn close(pool: &Pool) {
    loom::skip_branch();
    pool.close();
}

/// Property: a task that is polled at a split point, and waits for another, gets it, though the other worker
/// falls asleep while both are pushed.
///
/// Seen to fail with: no fence in `sleep`; a `sleep` that does not look once more; a split point that polls
/// nothing.
#[test]
fn a_task_is_polled_in_place_while_the_other_worker_falls_asleep() {
    check_large(1, || {
        loom::stop_exploring();
        let pool = Pool::new(2, 0);
        let slots = [pool.occupy(0), pool.occupy(1)];
        let (begun, first, second) = (Parker::new(), Parker::new(), Parker::new());
        let (computes, ran_first, ran_second) =
            (begun.unparker(), first.unparker(), second.unparker());
        drop(pool.compute({
            let pool = pool.clone();
            move || {
                computes.unpark();
                while !first.take_token() {
                    pool.split_point();
                    thread::yield_now();
                }
                close(&pool);
            }
        }));
        let [computing, other] = slots;
        let computing = thread::spawn(move || computing.work());
        begun.park();
        loom::explore();
        let other = thread::spawn(move || other.work());
        drop(pool.spawn(async move {
            second.park();
            ran_first.unpark();
        }));
        drop(pool.spawn(async move { ran_second.unpark() }));
        computing.join().unwrap();
        other.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Wakes no task, but brings the next event with each that it hears of.
struct Echo {
    pipe: Pipe,
    reader: Reader,
    heard: AtomicUsize,
    most: AtomicUsize,
}

impl Wake for Echo {
    fn wake(self: Arc<Self>) {
        if self.heard.fetch_add(1, Ordering::Relaxed) < self.most.load(Ordering::Relaxed) {
            let again = Waker::from(self.clone());
            self.reader.wait_for_next(&again);
            self.pipe.write();
        }
    }
}

/// Property: a split point comes to an end, though each look at the OS brings an event that concerns no task.
///
/// Seen to fail with: a `poll_in_place` that looks again although nothing was polled since its last look.
#[test]
fn events_that_concern_no_task_do_not_hold_up_a_computation() {
    check(0, || {
        let pool = Pool::new(1, 0);
        let pipe = pool.pipe(1);
        let reader = pipe.register();
        let (heard, most) = (AtomicUsize::new(0), AtomicUsize::new(100));
        let echo = Arc::new(Echo { pipe, reader, heard, most });
        echo.reader.wait_for_next(&Waker::from(echo.clone()));
        echo.pipe.write();
        drop(pool.compute({
            let (pool, echo) = (pool.clone(), echo.clone());
            move || {
                drop(pool.spawn(async {}));
                pool.split_point();
                // One look at its beginning, and one for each task.
                let heard = echo.heard.load(Ordering::Relaxed);
                assert!(heard <= 2, "it has looked {heard} times");
                echo.most.store(0, Ordering::Relaxed);
                close(&pool);
            }
        }));
        pool.occupy(0).work();
        pool.poll_os();
        assert!(pool.is_over());
    });
}

/// Property: a worker whose task, polled at a split point, keeps work for it is monitored, also if the monitor was
/// about to switch off.
///
/// Seen to fail with: a `woke_up` that does not switch on; a `switch_off` that does not count the sleepers again.
#[test]
fn work_is_kept_in_place_while_the_monitor_switches_off() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let monitor = {
            let pool = pool.clone();
            thread::spawn(move || pool.monitor().look(&pool, Duration::ZERO))
        };
        let inner = pool.clone();
        drop(pool.compute(move || {
            drop(inner.spawn({
                let pool = inner.clone();
                async move {
                    drop(pool.spawn(async {}));
                    monitor.join().unwrap();
                    assert!(pool.is_monitored());
                    close(&pool);
                }
            }));
            inner.split_point();
        }));
        worker.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: a computation that shows no split point is relieved, and what it has spawned is run meanwhile. What
/// it leaves behind at its end is run, too, though the worker does not take it of its own accord, and though
/// the spare that came for tasks falls asleep or is dismissed at that moment.
///
/// Seen to fail with: a `look` that takes a worker that computes for one that makes progress; a worker that leaves
/// tasks to its spare without handing over those that it has; `run_in_place` that leaves the tick even.
#[test]
fn a_computation_ends_while_its_spare_falls_asleep() {
    check(2, || {
        loom::stop_exploring();
        let pool = Pool::new(1, 1);
        let slot = pool.occupy(0);
        let (ended, back) = (Parker::new(), Parker::new());
        let (ends, ran) = (ended.unparker(), back.unparker());
        drop(pool.compute({
            let pool = pool.clone();
            move || {
                // What is polled in place leaves the worker in a poll.
                drop(pool.spawn(async {}));
                pool.split_point();
                drop(pool.spawn(async move { ran.unpark() }));
                // As the poller's thread would.
                let mut monitor = pool.monitor();
                monitor.look(&pool, Duration::ZERO);
                monitor.look(&pool, Duration::from_secs(1));
                back.park();
                ends.unpark();
                loom::explore();
                let inner = pool.clone();
                drop(pool.spawn(async move { close(&inner) }));
            }
        }));
        let worker = thread::spawn(move || slot.work());
        ended.park();
        pool.monitor().look(&pool, Duration::ZERO);
        worker.join().unwrap();
        while pool.is_occupied(1) {
            thread::yield_now();
        }
        assert!(pool.is_over());
    });
}

/// Property: a worker that leaves tasks to its spare comes to them when it is called, because the spare is stuck.
///
/// Seen to fail with: `search` that does not note that the worker was called (there is no end to it); a `sleep` that
/// does not look once more.
#[test]
fn a_task_is_pushed_while_the_spare_for_tasks_is_stuck() {
    check(3, || {
        loom::stop_exploring();
        let pool = Pool::new(1, 1);
        let (slot, spare) = (pool.occupy(0), pool.occupy(1));
        let (stuck, back) = (Parker::new(), Parker::new());
        let (in_poll, ran) = (stuck.unparker(), back.unparker());
        let (relieved, parker) = (Parker::new(), Parker::new());
        let (ends, go_on) = (relieved.unparker(), parker.unparker());
        drop(pool.spawn(async move {
            in_poll.unpark();
            back.park();
        }));
        let spare = thread::spawn(move || spare.work());
        stuck.park();
        drop(pool.compute({
            let pool = pool.clone();
            move || {
                pool.relieve_computing(0, 1);
                ends.unpark();
                parker.park();
            }
        }));
        let worker = thread::spawn(move || slot.work());
        relieved.park();
        loom::explore();
        go_on.unpark();
        let inner = pool.clone();
        drop(pool.spawn(async move {
            ran.unpark();
            close(&inner);
        }));
        worker.join().unwrap();
        spare.join().unwrap();
        assert!(pool.is_over());
    });
}
