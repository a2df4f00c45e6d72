//! Falling asleep and being woken: whatever is pushed is run. A task that is left behind shows as a
//! deadlock, because the pool is closed by its tasks and by nobody else.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::Pool;
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// A task that closes the pool if it is the last of this many.
fn spawn_one_of(pool: &Pool, left: &Arc<AtomicUsize>) {
    let (closing, left) = (pool.clone(), left.clone());
    drop(pool.spawn(async move {
        if left.fetch_sub(1, Ordering::Relaxed) == 1 {
            loom::skip_branch();
            closing.close();
        }
    }));
}

/// Property: a task pushed while the only worker falls asleep is run.
///
/// Seen to fail with: no fence in `after_push`; no fence in `sleep`; a `sleep` that does not look
/// once more; `announce` that leaves the worker counted as a searcher; a pop without a token.
#[test]
fn push_while_the_worker_falls_asleep() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        spawn_one_of(&pool, &Arc::new(AtomicUsize::new(1)));
        worker.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: of two tasks pushed at once while the only worker falls asleep, both are run.
///
/// Seen to fail with: no fence in `after_push`; no fence in `sleep`.
#[test]
fn two_pushes_while_the_worker_falls_asleep() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        let left = Arc::new(AtomicUsize::new(2));
        let worker = thread::spawn(move || slot.work());
        let pusher = {
            let (pool, left) = (pool.clone(), left.clone());
            thread::spawn(move || spawn_one_of(&pool, &left))
        };
        spawn_one_of(&pool, &left);
        pusher.join().unwrap();
        worker.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: with one task holding up a worker, the next one pushed is run by the other worker,
/// whoever searched, found something or fell asleep in between.
///
/// Seen to fail with: a `found` that does not look for more; no fence in it; `stop_search` that
/// never says that it was the last; no fence in `after_push`.
#[test]
fn the_last_searcher_leaves_while_more_is_pushed() {
    check_large(1, || {
        let pool = Pool::new(2, 0);
        let slots = [pool.occupy(0), pool.occupy(1)];
        let workers = slots.map(|slot| thread::spawn(move || slot.work()));
        let parker = Parker::new();
        let unparker = parker.unparker();
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                parker.park();
                // Both have run; how the pool ends is the matter of other models.
                loom::skip_branch();
                pool.close();
            }
        }));
        drop(pool.spawn(async move { unparker.unpark() }));
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(pool.is_over());
    });
}
