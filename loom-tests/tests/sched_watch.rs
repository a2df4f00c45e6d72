//! The watch over the workers: never off while a worker that is in a poll has work waiting.
#![cfg(loom)]

use loom::thread;
use windlass_loom_tests::{Poison, check};
use windlass_runtime::model::Pool;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a worker that is woken while the watch switches off, and that queues work for itself,
/// is watched.
///
/// Seen to fail with: `switch_off` that does not count the sleepers again; `sleeping_settled` by a
/// load instead of a read-modify-write.
#[test]
fn work_is_kept_while_the_watch_switches_off() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let place = pool.occupy(0);
        let worker = thread::spawn(move || place.work());
        let watch = {
            let pool = pool.clone();
            thread::spawn(move || pool.watch())
        };
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                drop(pool.spawn(async {}));
                watch.join().unwrap();
                assert!(pool.is_watched());
                loom::skip_branch();
                pool.close();
            }
        }));
        worker.join().unwrap();
    });
}

/// Property: work pushed from outside while all workers are busy is watched.
#[test]
fn work_is_pushed_while_the_watch_switches_off() {
    check(2, || {
        let pool = Pool::new(1, 0);
        let place = pool.occupy(0);
        let worker = thread::spawn(move || place.work());
        let watch = {
            let pool = pool.clone();
            thread::spawn(move || pool.watch())
        };
        let push = {
            let pool = pool.clone();
            thread::spawn(move || drop(pool.spawn(async {})))
        };
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                watch.join().unwrap();
                push.join().unwrap();
                // Unless the other task was first.
                assert!(pool.is_watched() || pool.is_idle());
                loom::skip_branch();
                pool.close();
            }
        }));
        worker.join().unwrap();
    });
}
