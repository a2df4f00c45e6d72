//! Jobs that no worker has forked: posted from elsewhere, for any worker or for each of them. What their
//! poster waits for.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::Pool;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a job that is posted while the only worker falls asleep is run. (One that is forgotten shows as a
/// deadlock.)
///
/// Seen to fail with: a `post_job` that wakes nobody.
#[test]
fn a_job_is_posted_while_the_worker_falls_asleep() {
    check(2, || {
        let pool = Pool::hospitable(1, 1);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let closing = pool.clone();
        pool.post(move || {
            loom::skip_branch();
            closing.close();
        });
        worker.join().unwrap();
    });
}

/// Property: a job that is posted while the pool closes is run, by a worker before it leaves or by its poster.
///
/// Seen to fail with: a worker that does not run what is left before it leaves.
#[test]
fn a_job_is_posted_while_the_pool_closes() {
    check(2, || {
        let pool = Pool::hospitable(1, 1);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let closing = {
            let pool = pool.clone();
            thread::spawn(move || pool.close())
        };
        let ran = Arc::new(AtomicUsize::new(0));
        let job = ran.clone();
        pool.post(move || _ = job.fetch_add(1, Ordering::Relaxed));
        closing.join().unwrap();
        worker.join().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
    });
}

/// Property: so is the job that it posts, by the same thread if that runs it in the place of the pool.
///
/// Seen to fail with: a thread that runs such a job and leaves what it has posted.
#[test]
fn a_job_posts_another_while_the_pool_closes() {
    check(2, || {
        let pool = Pool::hospitable(1, 1);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let closing = {
            let pool = pool.clone();
            thread::spawn(move || pool.close())
        };
        let ran = Arc::new(AtomicUsize::new(0));
        let (job, posts) = (ran.clone(), pool.clone());
        pool.post(move || {
            posts.post(move || _ = job.fetch_add(1, Ordering::Relaxed));
        });
        closing.join().unwrap();
        worker.join().unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 1);
    });
}

/// Property: a job that is posted while a manual loop waits, wakes up or looks is run. (One that is forgotten shows as
/// a deadlock: the loop waits for the task that the job spawns.)
///
/// Seen to fail with: a `post_job` that does not call the loop; a `Loop::look` that does not run what was posted.
#[test]
fn a_job_is_posted_while_a_manual_loop_looks() {
    check(2, || {
        let pool = Pool::manual();
        let mut tasks = pool.manual_loop();
        let posting = {
            let pool = pool.clone();
            let spawning = pool.clone();
            thread::spawn(move || pool.post(move || drop(spawning.spawn(async {}))))
        };
        tasks.ready_tasks(None).unwrap().for_each(|runnable| runnable.run());
        posting.join().unwrap();
        loom::skip_branch();
    });
}

/// Property: a job for each worker reaches one that falls asleep, and the poster sees what all of them have written.
///
/// Seen to fail with: no fence in `post_to_each`; a count of those left that is Relaxed.
#[test]
fn a_job_for_each_comes_while_the_workers_fall_asleep() {
    check_large(1, || {
        let pool = Pool::hospitable(2, 1);
        let slots = [pool.occupy(0), pool.occupy(1)];
        let workers = slots.map(|slot| thread::spawn(move || slot.work()));
        // Order nothing by themselves.
        let written = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let indices = pool.broadcast(|index| {
            written[index].store(1, Ordering::Relaxed);
            index
        });
        assert_eq!(indices, [0, 1]);
        assert!(written.iter().all(|written| written.load(Ordering::Relaxed) == 1));
        loom::skip_branch();
        pool.close();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// Property: a worker that falls asleep while what it waits for ends is called, and sees what was done before. No token
/// is left over.
///
/// Seen to fail with: no fence in `Completion::set`.
#[test]
fn a_worker_falls_asleep_while_what_it_waits_for_ends() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let worker = pool.fork(0);
        let written = Arc::new(AtomicUsize::new(0));
        let mut other = None;
        worker.wait_for(|end| {
            let written = written.clone();
            other = Some(thread::spawn(move || {
                written.store(1, Ordering::Relaxed);
                end();
            }));
        });
        assert_eq!(written.load(Ordering::Relaxed), 1);
        other.expect("it was started").join().unwrap();
        assert!(!worker.has_token());
    });
}
