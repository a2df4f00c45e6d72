//! A worker that waits for its next job beside the sleepers' stack, while a spare looks after tasks.
#![cfg(loom)]

use std::time::Duration;

use loom::thread;
use windlass_loom_tests::{Poison, check};
use windlass_runtime::model::Pool;
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// A pool whose only worker waits for a job, or is about to: its computation has just ended, and a spare was sent
/// meanwhile, which is busy elsewhere.
fn awaiting() -> (Pool, thread::JoinHandle<()>) {
    const FOR_EVER: Duration = Duration::from_secs(3600);
    loom::stop_exploring();
    let pool = Pool::patient(1, 1, FOR_EVER);
    let slot = pool.occupy(0);
    let (begun, ends) = (Parker::new(), Parker::new());
    let (begins, end) = (begun.unparker(), ends.unparker());
    drop(pool.compute({
        let pool = pool.clone();
        move || {
            pool.relieve_computing(0, 1);
            begins.unpark();
            ends.park();
        }
    }));
    let worker = thread::spawn(move || slot.work());
    begun.park();
    loom::explore();
    end.unpark();
    (pool, worker)
}

/// Property: a root that is queued while the worker falls asleep is run.
///
/// Seen to fail with: no fence in `push_root`; one that calls no worker that awaits a job; no fence in `sleep_joining`;
/// `await_job` that does not look for roots.
#[test]
fn a_root_comes_while_a_worker_begins_to_await_a_job() {
    check(3, || {
        let (pool, worker) = awaiting();
        let closing = pool.clone();
        drop(pool.compute(move || {
            loom::skip_branch();
            closing.close();
        }));
        worker.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: the end of the runtime reaches the worker that falls asleep.
///
/// Seen to fail with: a `wake_all` that leaves joiners asleep; `await_job` that does not look whether it may leave.
#[test]
fn the_runtime_ends_while_a_worker_begins_to_await_a_job() {
    check(3, || {
        let (pool, worker) = awaiting();
        pool.close();
        worker.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: of a worker whose time is over, while it is called for a job and with all others, no token is left over,
/// which would have it wake up from its next sleep although nobody has called.
///
/// Seen to fail with: a `sleep_joining` that does not take the token of a caller that was faster.
#[test]
fn the_time_is_over_while_a_worker_is_called() {
    check(3, || {
        let pool = Pool::patient(1, 1, Duration::ZERO);
        pool.relieve_computing(0, 1);
        let callers = [Pool::wake_thief, Pool::wake_all].map(|call| {
            let pool = pool.clone();
            thread::spawn(move || call(&pool))
        });
        let worker = pool.fork(0);
        assert!(!worker.await_job(), "nothing is offered");
        for caller in callers {
            caller.join().unwrap();
        }
        assert!(!worker.has_token(), "a token was left over");
    });
}

/// Property: a root for which a worker was called that awaits a job is looked for by that worker, though there is a job
/// too; or else somebody else was called.
///
/// Seen to fail with: `await_job` that takes a job whatever it was called for.
#[test]
fn a_root_and_a_job_come_while_a_worker_awaits_a_job() {
    check(3, || {
        let pool = Pool::patient(3, 1, Duration::from_secs(3600));
        pool.relieve_computing(0, 3);
        pool.pretend_asleep(2);
        let (thief, owner) = (pool.fork(0), pool.fork(1));
        let awaiting = thread::spawn(move || thief.await_job());
        owner.join(|| drop(pool.compute(|| ())), || ());
        assert!(!awaiting.join().unwrap() || pool.sleeping() == 0, "nobody looks for the root");
        loom::stop_exploring();
        pool.close();
        pool.occupy(3).work();
    });
}
