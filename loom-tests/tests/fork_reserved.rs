//! Jobs that are reserved for the workers, because they go by the index of their thread: no spare runs them.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::Pool;
use windlass_runtime::worker_index;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a job that is made after jobs were reserved is run by a worker, although a spare was about to take it.
///
/// Seen to fail with: a `steal_job` that does not look once more when it has taken a job.
#[test]
fn a_spare_takes_a_job_while_jobs_are_reserved() {
    check(3, || {
        let pool = Pool::new(1, 1);
        let spare = {
            let pool = pool.clone();
            thread::spawn(move || pool.fork(1).steal_once())
        };
        let ran = Arc::new(AtomicUsize::new(0));
        let job = ran.clone();
        pool.reserve_jobs();
        pool.post(move || {
            assert_eq!(worker_index(), Some(0));
            job.fetch_add(1, Ordering::Relaxed);
        });
        spare.join().unwrap();
        pool.fork(0).steal_once();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
    });
}

/// Property: a job that is posted while a worker and a spare fall asleep is run, by the worker,
/// whoever of them is called.
///
/// Seen to fail with: a spare that can't take what it was called for, and wakes nobody before it sleeps.
#[test]
fn a_reserved_job_is_posted_while_a_worker_and_a_spare_fall_asleep() {
    check_large(1, || {
        let pool = Pool::new(1, 1);
        pool.reserve_jobs();
        let slots = [pool.occupy(0), pool.occupy(1)];
        let threads = slots.map(|slot| thread::spawn(move || slot.work()));
        let closing = pool.clone();
        pool.post(move || {
            loom::skip_branch();
            assert_eq!(worker_index(), Some(0));
            closing.close();
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Property: a job is not left lying because a spare in a join was called for it just before jobs were reserved.
///
/// Seen to fail with: a `begin_to_reserve` that wakes nobody.
#[test]
fn jobs_are_reserved_while_a_spare_is_called_for_one() {
    check_large(1, || {
        let pool = Pool::new(1, 1);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let reserving = {
            let pool = pool.clone();
            thread::spawn(move || pool.reserve_jobs())
        };
        let mut poster = None;
        pool.fork(1).wait_for(|end| {
            let pool = pool.clone();
            poster = Some(thread::spawn(move || pool.post(end)));
        });
        reserving.join().unwrap();
        poster.expect("it was started").join().unwrap();
        loom::skip_branch();
        pool.close();
        worker.join().unwrap();
    });
}
