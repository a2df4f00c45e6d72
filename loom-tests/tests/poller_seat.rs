//! A worker that sleeps on the OS is called back like any other.
#![cfg(loom)]

use loom::thread;
use windlass_loom_tests::{check, output};
use windlass_runtime::model::Pool;

/// Property: a task spawned while a worker sits down, sits, or gets up is run.
///
/// Seen to fail with: `Pool::wake` that looks whether the worker sits before it gives it the token; a
/// `sit` that does not look for the token before it waits; no fence in either.
#[test]
fn a_push_reaches_a_worker_that_sits_down() {
    check(2, || {
        let pool = Pool::new(1, 0).with_sources();
        let place = pool.occupy(0);
        let worker = thread::spawn(move || place.work());
        let mut handle = pool.spawn(async { 1 });
        // The worker leaves when it is closed, with the task run or cancelled.
        pool.close();
        worker.join().unwrap();
        assert!(output(&mut handle).is_ok_and(|one| one == 1) || pool.is_over());
    });
}

/// Property: a pool that closes gets a worker out of its seat.
///
/// Seen to fail with: `wake_all` that gives tokens only.
#[test]
fn closing_reaches_a_worker_that_sits() {
    check(3, || {
        let pool = Pool::new(1, 0).with_sources();
        let place = pool.occupy(0);
        let worker = thread::spawn(move || place.work());
        pool.close();
        worker.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: who sits is seen to sit, also if another has just left the seat. (Unseen, the thread and a worker that
/// finds the seat taken would wake each other for ever.)
///
/// Seen to fail with: a `leave` that says so after it has released the seat's lock.
#[test]
fn one_sits_down_while_another_leaves_the_seat() {
    check(3, || {
        let pool = Pool::new(2, 0).with_sources();
        let leaving = {
            let pool = pool.clone();
            thread::spawn(move || pool.is_seen_to_sit())
        };
        assert_ne!(pool.is_seen_to_sit(), Some(false));
        assert_ne!(leaving.join().unwrap(), Some(false));
    });
}
