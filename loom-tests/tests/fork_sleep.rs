//! Sleeping in a join, falling asleep beside a root, which threads compute, and the last job of a scope.
#![cfg(loom)]

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::Pool;
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a joiner that falls asleep is called by the thief that ends its job at that moment, and by
/// a thread that wants it for an offer; a token is owed once and none is left over.
///
/// Seen to fail with: no fence in `latch_was_set`; no fence in `sleep_joining`; `sleep_joining` that does not
/// look once more, or that leaves although it was called (a token left over).
#[test]
fn a_joiner_falls_asleep_while_its_job_ends_and_others_call() {
    check(3, || {
        let pool = Pool::new(2, 0);
        let thief = pool.fork(1);
        let calling = {
            let pool = pool.clone();
            thread::spawn(move || pool.wake_thief())
        };
        let stealing = thread::spawn(move || thief.steal_once());
        let owner = pool.fork(0);
        let (_, b) = owner.join(thread::yield_now, || 2);
        assert_eq!(b, 2);
        stealing.join().unwrap();
        calling.join().unwrap();
        assert!(!owner.has_token(), "a token was left over");
    });
}

/// Property: a root pushed while the only worker falls asleep is run.
///
/// Seen to fail with: a `sleep` that does not look for roots; `spawn_root` that calls nobody.
#[test]
fn a_root_comes_while_the_worker_falls_asleep() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let closing = pool.clone();
        drop(pool.compute(move || {
            loom::skip_branch();
            closing.close();
        }));
        worker.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: a root for which a spare is called that came for tasks, and does not compute, is run by the
/// worker that sleeps.
///
/// Seen to fail with: a `sleep` that leaves it at that (no `wake_all` for what `wants_thief`).
#[test]
fn a_root_comes_while_a_spare_for_tasks_is_called() {
    check_large(2, || {
        let pool = Pool::new(1, 1);
        pool.keep_for_tasks(1);
        let (slot, spare) = (pool.occupy(0), pool.occupy(1));
        let worker = thread::spawn(move || slot.work());
        let spare = thread::spawn(move || spare.work());
        let closing = pool.clone();
        drop(pool.compute(move || {
            loom::skip_branch();
            closing.close();
        }));
        worker.join().unwrap();
        spare.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: a spare that came for tasks computes when its worker is stuck in something else.
///
/// Seen to fail with: a monitor that does not `let_spare_compute`.
#[test]
fn a_spare_for_tasks_stands_in_for_a_worker_that_blocks() {
    check_large(1, || {
        let pool = Pool::new(1, 1);
        let (slot, spare) = (pool.occupy(0), pool.occupy(1));
        let (in_poll, done) = (Parker::new(), Parker::new());
        let (polls, ended) = (in_poll.unparker(), done.unparker());
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                pool.relieve_computing(0, 1);
                polls.unpark();
                done.park();
                loom::skip_branch();
                pool.close();
            }
        }));
        let worker = thread::spawn(move || slot.work());
        in_poll.park();
        let mut monitor = pool.monitor();
        drop(pool.compute(move || ended.unpark()));
        let spare = thread::spawn(move || spare.work());
        // As the thread does, it looks until there is nothing left to see to.
        for seconds in 0.. {
            if !pool.is_occupied(1) {
                break;
            }
            monitor.look(&pool, Duration::from_secs(seconds));
            thread::yield_now();
        }
        worker.join().unwrap();
        spare.join().unwrap();
    });
}

/// Property: a scope waits for its last job, also if a thief ends it while the owner falls asleep, and is
/// not touched when it is gone.
///
/// Seen to fail with: a count without Release (the job's write is not seen); `job_ended` that calls nobody.
#[test]
fn a_scope_waits_while_a_thief_ends_its_last_job() {
    check(3, || {
        let pool = Pool::new(2, 0);
        let thief = pool.fork(1);
        let stealing = thread::spawn(move || thief.steal_once());
        let owner = pool.fork(0);
        // Orders nothing by itself: that its value is seen is the scope's doing.
        let written = AtomicUsize::new(0);
        owner.scope(|s| s.spawn(|_| written.store(1, Ordering::Relaxed)));
        assert_eq!(written.load(Ordering::Relaxed), 1);
        stealing.join().unwrap();
    });
}

/// Property: of two jobs of a scope, one in the offer and one in the list behind it, each is run once, whoever takes
/// it; and the scope sees what both have done.
///
/// Seen to fail with: `offer_oldest` that leaves the job in the list (run twice); `pop_spawned` that does not take an
/// offered job back (a scope that waits for ever); a count without Release.
#[test]
fn a_thief_takes_spawned_jobs_while_their_owner_does() {
    check(2, || {
        let pool = Pool::new(2, 0);
        let thief = pool.fork(1);
        let stealing = thread::spawn(move || {
            thief.steal_once();
            thief.steal_once();
        });
        let owner = pool.fork(0);
        let runs = [AtomicUsize::new(0), AtomicUsize::new(0)];
        owner.scope(|s| {
            for run in &runs {
                s.spawn(|_| _ = run.fetch_add(1, Ordering::Relaxed));
            }
        });
        assert_eq!(runs.map(|run| run.load(Ordering::Relaxed)), [1, 1]);
        stealing.join().unwrap();
    });
}

/// Property: a job is run by the worker that searches and falls asleep while it is spawned; its own worker is in a long
/// leaf meanwhile.
///
/// Seen to fail with: a `sleep` that does not look for jobs.
#[test]
fn a_job_is_spawned_while_the_other_worker_falls_asleep() {
    check_large(2, || {
        let pool = Pool::new(2, 0);
        let slot = pool.occupy(1);
        let worker = thread::spawn(move || slot.work());
        let owner = pool.fork(0);
        let done = Parker::new();
        let ended = done.unparker();
        owner.scope(move |s| {
            s.spawn(move |_| ended.unpark());
            done.park();
        });
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: a joiner that was called for a job, and need not wait any more, passes the call on.
#[test]
fn a_joiner_that_is_called_for_a_job_leaves() {
    check_large(1, || {
        let pool = Pool::new(3, 0);
        let slot = pool.occupy(2);
        let worker = thread::spawn(move || slot.work());
        let (joiner, thief) = (pool.fork(1), pool.fork(0));
        let stolen = Parker::new();
        let begun = stolen.unparker();
        let joining = thread::spawn(move || {
            joiner.join(|| (), || ());
            begun.unpark();
        });
        thief.steal_once();
        let done = Parker::new();
        let ended = done.unparker();
        thief.scope(move |s| {
            s.spawn(move |_| ended.unpark());
            done.park();
        });
        stolen.park();
        pool.close();
        joining.join().unwrap();
        worker.join().unwrap();
    });
}

/// Property: a worker that falls asleep beside crumbs is woken for the long job that follows them, also if its owner
/// has offered it before it could have seen the worker asleep: the monitor is asked to look.
///
/// Seen to fail with: a `look_for_offer` that does not hurry the monitor.
#[test]
fn a_worker_falls_asleep_beside_crumbs_while_a_long_job_is_offered() {
    check_large(2, || {
        let pool = Pool::watchful(2);
        let slot = pool.occupy(1);
        let worker = thread::spawn(move || slot.work());
        let owner = pool.fork(0);
        let ran = Arc::new(AtomicBool::new(false));
        let runs = ran.clone();
        let mut monitor = pool.monitor();
        let leaf = || {
            for seconds in 0.. {
                if ran.load(Ordering::Acquire) {
                    break;
                }
                // As the monitor's thread does; unless it is asked to, it may take long over it.
                if pool.is_hurried() {
                    monitor.look(&pool, Duration::from_secs(seconds));
                }
                thread::yield_now();
            }
        };
        owner.join(|| (), || ());
        owner.join(leaf, move || runs.store(true, Ordering::Release));
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: a worker that sleeps is woken for the job of a joiner that sleeps too, although a joiner is woken
/// preferably: this one can't take its own job.
///
/// Seen to fail with: a `wake_thief` that wakes the joiner whose job it is.
#[test]
fn a_thief_is_called_while_the_owner_of_the_job_falls_asleep() {
    check(2, || {
        let pool = Pool::new(3, 0);
        let thief = pool.fork(1);
        let stealing = thread::spawn(move || thief.steal_once());
        let owner = pool.fork(0);
        let waits = || {
            owner.scope(|s| {
                s.spawn(|_| {
                    // There is nobody else to wake.
                    pool.pretend_asleep(2);
                    pool.wake_thief();
                    assert_eq!(pool.sleeping(), 0, "a worker sleeps beside a job");
                });
            });
        };
        owner.join(waits, || ());
        stealing.join().unwrap();
    });
}
