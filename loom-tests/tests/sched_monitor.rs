//! The monitor of the workers: never off while a worker is awake. How a manual loop is kicked, which has no monitor but
//! uses its switch.
#![cfg(loom)]

use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::Duration;

use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::Pool;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a worker that is woken while the monitor switches off, and that queues work for itself, is monitored.
///
/// Seen to fail with: a `switch_off` that does not count the sleepers again; a `sleeping_settled` that only loads; a
/// `woke_up` that does not switch on. (Not with a `sleeping_settled` that is Relaxed, nor with a `switch_off` without
/// its fence: each does the other's work here. The fence is there for guests.)
#[test]
fn work_is_kept_while_the_monitor_switches_off() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let monitor = {
            let pool = pool.clone();
            thread::spawn(move || pool.monitor().look(&pool, Duration::ZERO))
        };
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                drop(pool.spawn(async {}));
                monitor.join().unwrap();
                assert!(pool.is_monitored());
                loom::skip_branch();
                pool.close();
            }
        }));
        worker.join().unwrap();
    });
}

/// Property: while work that was pushed from outside waits for a busy worker, that worker is monitored.
///
/// Seen to fail with: a `switch_off` that does not count the sleepers again; a `sleeping_settled` that only loads; a
/// `woke_up` that does not switch on.
#[test]
fn work_is_pushed_while_the_monitor_switches_off() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let monitor = {
            let pool = pool.clone();
            thread::spawn(move || pool.monitor().look(&pool, Duration::ZERO))
        };
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                monitor.join().unwrap();
                // Unless the other task has not come yet.
                assert!(pool.is_monitored() || pool.is_idle());
                loom::skip_branch();
                pool.close();
            }
        }));
        drop(pool.spawn(async {}));
        worker.join().unwrap();
    });
}

/// Property: a worker that begins while the monitor switches off is monitored.
///
/// Seen to fail with: no fence in `note_move_in`; none in `switch_off`.
#[test]
fn a_worker_begins_while_the_monitor_switches_off() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let looking = Arc::new(Mutex::new(None::<thread::JoinHandle<()>>));
        // Before the rest: a push has a fence of its own.
        drop(pool.spawn({
            let (pool, looking) = (pool.clone(), looking.clone());
            async move {
                let looking = looking.lock().unwrap().take().expect("begun before this");
                looking.join().unwrap();
                assert!(pool.is_monitored());
                loom::skip_branch();
                pool.close();
            }
        }));
        *looking.lock().unwrap() = Some({
            let pool = pool.clone();
            thread::spawn(move || pool.monitor().look(&pool, Duration::ZERO))
        });
        pool.occupy(0).work();
    });
}

/// The waker of something that is no task, called by the worker that has taken the event.
struct Listener {
    pool: Pool,
    monitor: Mutex<Option<thread::JoinHandle<()>>>,
}

impl Wake for Listener {
    fn wake(self: Arc<Self>) {
        let monitor = self.monitor.lock().unwrap().take().expect("there is one event");
        monitor.join().unwrap();
        assert!(self.pool.is_monitored());
        loom::skip_branch();
        self.pool.close();
    }
}

/// Property: a worker that an event wakes in the seat, while the monitor switches off, is monitored before it calls a
/// waker: that may block.
///
/// Seen to fail with: a `switch_off` that does not count the sleepers again; a `sleeping_settled` that only loads; a
/// `sleep_in_seat` that says that it is awake after it has left the seat, or not at all.
#[test]
fn a_worker_wakes_up_in_the_seat_while_the_monitor_switches_off() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let pipe = pool.pipe(1);
        let reader = pipe.register();
        let listener = Arc::new(Listener { pool: pool.clone(), monitor: Mutex::new(None) });
        reader.wait_for_next(&Waker::from(listener.clone()));
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let monitor = {
            let pool = pool.clone();
            thread::spawn(move || pool.monitor().look(&pool, Duration::ZERO))
        };
        *listener.monitor.lock().unwrap() = Some(monitor);
        pipe.write();
        worker.join().unwrap();
    });
}

/// Property: tasks that other threads push while a manual loop waits, wakes up or looks are handed out. (One that is
/// forgotten shows as a deadlock.)
///
/// Seen to fail with: a `Loop::look` that does not settle; a `hurry` that does not kick; a `wait_in_loop` that answers
/// before it waits; with three preemptions, a `Loop::look` without its fence.
#[test]
fn tasks_are_pushed_while_a_manual_loop_looks() {
    check_large(2, || {
        let pool = Pool::manual();
        let mut tasks = pool.manual_loop();
        let pushing = [(); 2].map(|()| {
            let pool = pool.clone();
            thread::spawn(move || drop(pool.spawn(async {})))
        });
        let mut ran = 0;
        while ran < 2 {
            for runnable in tasks.ready_tasks(None).unwrap() {
                runnable.run();
                ran += 1;
            }
        }
        pushing.into_iter().for_each(|pushing| pushing.join().unwrap());
        loom::skip_branch();
    });
}
