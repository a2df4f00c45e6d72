//! Events reach the tasks that wait for them, whoever sits on the OS, sits down or leaves; and a worker that sits is
//! woken like any other. Here the OS is a stand-in and everything above it is the real thing. An event that nobody
//! takes shows as a deadlock, because the pool is closed by the task that waits for it and by nobody else.
#![cfg(loom)]

use std::time::Duration;

use loom::thread;
use windlass_loom_tests::{Poison, check, check_large, output};
use windlass_runtime::model::{Pipe, Pool, Reader};
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// A pool with a task that waits for a pipe, polled once and idle. It calls `then` when it has read.
fn waiting(pool: &Pool, reader: Reader, then: impl FnOnce(&Pool) + Send + 'static) {
    let inner = pool.clone();
    drop(pool.spawn(async move {
        // Dismisses the worker that polls it first.
        inner.retire(0);
        reader.read().await;
        then(&inner);
    }));
    pool.occupy(0).work();
}

fn close(pool: &Pool) {
    loom::skip_branch();
    pool.close();
}

fn start(pool: &Pool, workers: usize) -> Vec<thread::JoinHandle<()>> {
    let slots = (0..workers).map(|index| pool.occupy(index)).collect::<Vec<_>>();
    slots.into_iter().map(|slot| thread::spawn(move || slot.work())).collect()
}

fn join(workers: Vec<thread::JoinHandle<()>>) {
    workers.into_iter().for_each(|worker| worker.join().unwrap());
}

/// Property: a task spawned while a worker sits down, sits, or leaves the seat is run.
///
/// Seen to fail with: `Pool::wake` that does not kick the seat; one that kicks before it gives the token; a
/// `sleep_in_seat` that does not look for the token after a wait; no fence in `Worker::sleep`.
#[test]
fn a_push_reaches_a_worker_that_sits_down() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let workers = start(&pool, 1);
        let mut handle = pool.spawn(async { 1 });
        // The worker leaves when it is closed, with the task run or cancelled.
        pool.close();
        join(workers);
        assert!(output(&mut handle).is_ok_and(|one| one == 1) || pool.is_over());
    });
}

/// Property: a pool that closes gets a worker out of its seat.
///
/// Seen to fail with: `wake_all` that gives tokens only.
#[test]
fn closing_reaches_a_worker_that_sits() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let workers = start(&pool, 1);
        pool.close();
        join(workers);
        assert!(pool.is_over());
    });
}

/// Property: a worker that leaves the seat for an event is not left asleep, nor woken twice, by one that wakes it for a
/// task at that moment.
///
/// Seen to fail with: a `sleep_in_seat` that does not wait for the token when it was popped.
#[test]
fn an_event_and_a_push_come_at_once() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let pipe = pool.pipe(1);
        waiting(&pool, pipe.register(), |_| ());
        let workers = start(&pool, 1);
        let writing = thread::spawn(move || pipe.write());
        drop(pool.spawn(async {}));
        writing.join().unwrap();
        close(&pool);
        join(workers);
        assert!(pool.is_over());
    });
}

/// Property: an event that comes while the only worker falls asleep, sits down or leaves reaches the task.
///
/// Seen to fail with: a `Worker::sleep` that never takes the seat.
#[test]
fn an_event_comes_while_the_worker_falls_asleep() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let pipe = pool.pipe(1);
        waiting(&pool, pipe.register(), close);
        let workers = start(&pool, 1);
        pipe.write();
        join(workers);
        assert!(pool.is_over());
    });
}

/// Property: an event that comes while one worker parks and another looks at the OS, or sits, reaches the task.
///
/// Seen to fail with: a `Worker::sleep` that never takes the seat.
#[test]
fn an_event_comes_while_two_workers_fall_asleep() {
    check_large(2, || {
        let pool = Pool::new(2, 0);
        let pipe = pool.pipe(1);
        waiting(&pool, pipe.register(), close);
        let workers = start(&pool, 2);
        pipe.write();
        join(workers);
        assert!(pool.is_over());
    });
}

/// Property: an event reaches the task although the worker that falls asleep finds the seat's lock taken by one that
/// leaves at that moment.
///
/// Seen to fail with: a `note_move_out` that wakes nobody; no fence in it.
#[test]
fn an_event_comes_while_the_worker_at_the_os_leaves() {
    check_large(2, || {
        let pool = Pool::new(1, 1);
        let pipe = pool.pipe(1);
        waiting(&pool, pipe.register(), close);
        let slot = pool.occupy(1);
        let leaving = thread::spawn(move || slot.look_and_leave());
        let workers = start(&pool, 1);
        pipe.write();
        leaving.join().unwrap();
        join(workers);
        assert!(pool.is_over());
    });
}

/// Property: an event reaches the task although the last worker falls asleep while the poller's thread has the seat's
/// lock.
///
/// Seen to fail with: a `look_after_os` or a `look_once_more` that does not ask whether nobody looks; no fence in the
/// former.
#[test]
fn the_thread_takes_events_while_the_last_worker_falls_asleep() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let pipe = pool.pipe(1);
        waiting(&pool, pipe.register(), close);
        let workers = start(&pool, 1);
        let polling = {
            let pool = pool.clone();
            thread::spawn(move || pool.poll_as_last_resort())
        };
        polling.join().unwrap();
        pipe.write();
        join(workers);
        assert!(pool.is_over());
    });
}

/// Property: a worker that comes and goes, and finds the seat's lock taken by a thread that only asks whether nobody
/// looks, is woken by that thread to take the seat.
///
/// Seen to fail with: no fence in `probe_seat`.
#[test]
fn a_worker_finds_the_seat_taken_by_a_thread_that_asks_whether_nobody_looks() {
    check_large(2, || {
        loom::stop_exploring();
        let pool = Pool::new(1, 0);
        let pipe = pool.pipe(1);
        waiting(&pool, pipe.register(), close);
        let (workers, pushing) = pool.hold_seat(|| {
            let workers = start(&pool, 1);
            while pool.sleeping() < 1 {
                thread::yield_now();
            }
            let pool = pool.clone();
            loom::explore();
            (workers, thread::spawn(move || drop(pool.spawn(async {}))))
        });
        pushing.join().unwrap();
        pipe.write();
        join(workers);
        assert!(pool.is_over());
    });
}

/// Property: a worker is stuck in the task that its event was for; the next event reaches its task all the same, by the
/// monitor and the other worker.
///
/// Seen to fail with: a `see_to_os` that wakes nobody.
#[test]
fn a_worker_gets_stuck_while_the_next_event_comes() {
    check_large(1, || {
        loom::stop_exploring();
        let pool = Pool::new(2, 0);
        let pipes: [Pipe; 2] = [pool.pipe(1), pool.pipe(2)];
        let (stuck, heard) = (Parker::new(), Parker::new());
        let (in_poll, go_on) = (stuck.unparker(), heard.unparker());
        waiting(&pool, pipes[0].register(), move |pool| {
            in_poll.unpark();
            heard.park();
            close(pool);
        });
        waiting(&pool, pipes[1].register(), move |_| go_on.unpark());
        let mut monitor = pool.monitor();
        let workers = start(&pool, 2);
        while pool.sleeping() < 2 {
            thread::yield_now();
        }
        pipes[0].write();
        stuck.park();
        monitor.look(&pool, Duration::ZERO);
        loom::explore();
        pipes[1].write();
        monitor.look(&pool, Duration::from_secs(1));
        join(workers);
        assert!(pool.is_over());
    });
}

/// Property: events are handed out once: a worker that is woken before it has waited leaves the seat with
/// nothing in its hands.
///
/// Seen to fail with: `dispatch` that does not clear the events.
#[test]
fn events_are_handed_out_once() {
    check(0, || {
        let pool = Pool::new(1, 0);
        let pipe = pool.pipe(1);
        let reader = pipe.register();
        pipe.write();
        pool.poll_os();
        reader.try_read();
        pool.sit_in_vain();
        assert!(reader.is_blank(), "it was told of the same event twice");
    });
}

/// Property: an event on its way for a source that goes does not reach the one that gets its slot.
///
/// Seen to fail with: `Slab::event` that does not compare the generations.
#[test]
fn an_event_is_on_its_way_while_its_source_goes_and_another_comes() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let old = pool.pipe(1);
        let reader = old.register();
        old.write();
        let polling = {
            let pool = pool.clone();
            thread::spawn(move || pool.poll_os())
        };
        drop(reader);
        let new = pool.pipe(2).register();
        new.try_read();
        polling.join().unwrap();
        assert!(new.is_blank(), "it has met an event that was not its own");
    });
}
