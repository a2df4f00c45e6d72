//! A worker from its beginning to its end: the pool ends whoever spawns, wakes or sleeps at that
//! moment, every task is dropped, and nobody touches a pool that is gone.
#![cfg(loom)]

use std::future::{self, poll_fn};
use std::task::Poll;

use loom::thread;
use windlass_loom_tests::{Drops, Poison, Stash, check, check_large, output};
use windlass_runtime::model::Pool;
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a task spawned from outside while the pool closes is refused or cancelled, and the
/// worker leaves.
///
/// Seen to fail with: `close` that does not wake the sleepers; no fence in `close` before it does;
/// a `sleep` that does not ask `may_leave`; `bind` that does not look at `closed`; `is_over` that
/// takes a shard for empty that is not closed yet (the worker leaves, and a task comes in).
#[test]
fn spawn_while_the_pool_closes() {
    check(2, || {
        let drops = Drops::default();
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let spawner = {
            let (pool, guard) = (pool.clone(), drops.guard());
            thread::spawn(move || {
                pool.spawn(async move {
                    let _guard = guard;
                    future::pending::<()>().await
                })
            })
        };
        pool.close();
        let mut handle = spawner.join().unwrap();
        worker.join().unwrap();
        assert!(pool.is_over());
        assert!(output(&mut handle).is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
    });
}

/// Property: a task spawned from outside while a manual loop is dropped is refused, or cancelled before the drop
/// returns.
///
/// Seen to fail with: `spawn_shared` that counts the task after it is in its shard, and no longer under the shard's
/// lock.
#[test]
fn spawn_while_a_manual_loop_is_dropped() {
    check(3, || {
        let drops = Drops::default();
        let pool = Pool::new(1, 0);
        let tasks = pool.manual_loop();
        let spawner = {
            let (pool, guard) = (pool.clone(), drops.guard());
            thread::spawn(move || {
                pool.spawn(async move {
                    let _guard = guard;
                    future::pending::<()>().await
                })
            })
        };
        drop(tasks);
        let mut handle = spawner.join().unwrap();
        assert!(handle.is_finished(), "neither refused nor cancelled");
        assert!(output(&mut handle).is_err_and(|error| error.is_cancelled()));
        assert_eq!(drops.count(), 1);
        assert!(pool.is_over());
    });
}

/// Property: a task that spawns another on its worker while the pool closes leaves none behind, also if
/// that is polled once more and has to be bound.
///
/// Seen to fail with: `bind` that does not look at `closed`; `close` that leaves out a shard, the worker's or
/// the one of outside threads. (Not with a `spawn` or a worker that never looks at `closing`: it only takes
/// the longer way.)
#[test]
fn spawn_inside_while_the_pool_closes() {
    check(2, || {
        let drops = Drops::default();
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        drop(pool.spawn({
            let (pool, drops) = (pool.clone(), drops.clone());
            async move {
                let guard = drops.guard();
                drop(pool.spawn(async move {
                    let _guard = guard;
                    future::pending::<()>().await
                }));
            }
        }));
        let worker = thread::spawn(move || slot.work());
        pool.close();
        worker.join().unwrap();
        assert!(pool.is_over());
        // The first may have been cancelled before it came to make the second.
        assert!(drops.count() <= 1);
    });
}

/// Property: what a worker has stolen from another is in no list, and still neither of them leaves it
/// behind when the pool closes, whoever of the two gets to it and whoever falls asleep.
///
/// Seen to fail with: `left` that wakes nobody; `run` that leaves without `left`. (Not with a `left` that has
/// no fence: `is_over` takes locks, which are sequentially consistent in loom.)
#[test]
fn a_task_is_stolen_while_the_pool_closes() {
    check(2, || {
        let drops = Drops::default();
        let pool = Pool::new(2, 0);
        let slots = [pool.occupy(0), pool.occupy(1)];
        drop(pool.spawn({
            let (pool, drops) = (pool.clone(), drops.clone());
            async move {
                let guard = drops.guard();
                drop(pool.spawn(async move { drop(guard) }));
                pool.close();
            }
        }));
        let [first, second] = slots;
        let other = thread::spawn(move || second.work());
        first.work();
        other.join().unwrap();
        assert!(pool.is_over());
        assert_eq!(drops.count(), 1);
    });
}

/// Property: a worker stuck in the first poll of a task keeps nobody from dropping what it has spawned:
/// the others stay until that is done, although no list knows of either.
///
/// Seen to fail with: `is_over` that asks the list alone (there is no end to it).
#[test]
fn a_worker_is_stuck_in_a_first_poll_while_the_pool_closes() {
    check(1, || {
        let drops = Drops::default();
        let pool = Pool::new(2, 0);
        let slots = [pool.occupy(0), pool.occupy(1)];
        drop(pool.spawn({
            let (pool, drops) = (pool.clone(), drops.clone());
            async move {
                let last = pool.clone();
                drop(pool.spawn(async move {
                    let guard = drops.guard();
                    drop(last.spawn(async move { drop(guard) }));
                    last.close();
                    while drops.count() == 0 {
                        // As the monitor would.
                        last.wake_all();
                        thread::yield_now();
                    }
                }));
            }
        }));
        let [first, second] = slots;
        let other = thread::spawn(move || second.work());
        first.work();
        other.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: a pool that is over has no task left, also if one that is in no list spawns another while somebody
/// adds up how many have begun and ended.
///
/// Seen to fail with: `unfinished` that reads what was spawned first; `Tally` with Relaxed at either end.
#[test]
fn tasks_come_and_go_while_they_are_counted() {
    check(3, || {
        loom::stop_exploring();
        let (made, ended) = (Drops::default(), Drops::default());
        let pool = Pool::new(1, 0);
        let slot = pool.occupy(0);
        let (begun, parker) = (Parker::new(), Parker::new());
        let (begins, go_on) = (begun.unparker(), parker.unparker());
        // The first is listed; those that it leads to are not.
        drop(pool.spawn({
            let (pool, made, ended) = (pool.clone(), made.clone(), ended.clone());
            async move {
                let inner = pool.clone();
                drop(pool.spawn(async move {
                    let _guard = ended.guard();
                    drop(made.guard());
                    begins.unpark();
                    parker.park();
                    let guard = ended.guard();
                    drop(made.guard());
                    drop(inner.spawn(async move { drop(guard) }));
                }));
            }
        }));
        let worker = thread::spawn(move || slot.work());
        begun.park();
        loom::explore();
        go_on.unpark();
        pool.close();
        if pool.is_over() {
            assert_eq!(made.count(), ended.count(), "a task is left");
        }
        worker.join().unwrap();
        assert!(pool.is_over());
        assert_eq!((made.count(), ended.count()), (2, 2));
    });
}

/// Property: a spare that retires after the last task of a pool that closes has the worker end that
/// falls asleep at that moment.
///
/// Seen to fail with: `left` that wakes nobody; `run` that does not call it for one that retires.
#[test]
fn a_spare_retires_after_the_last_task() {
    check(2, || {
        let pool = Pool::new(1, 1);
        let (slot, spare) = (pool.occupy(0), pool.occupy(1));
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                pool.retire(1);
                pool.close();
            }
        }));
        let spare = thread::spawn(move || spare.work());
        slot.work();
        spare.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Spawns a task that waits for ever, and polls it for the first time, here and alone.
fn spawn_idle(pool: &Pool, stash: &Stash, drops: &Drops) {
    let (stash, guard) = (stash.clone(), drops.guard());
    let mut first = Some(pool.clone());
    drop(pool.spawn(poll_fn(move |cx| {
        let _ = &guard;
        if let Some(pool) = first.take() {
            stash.keep(cx);
            // Dismisses the worker that polls it.
            pool.retire(0);
        }
        Poll::<()>::Pending
    })));
    pool.occupy(0).work();
}

/// Property: a waker used on an outside thread while the pool closes and its last reference goes
/// finds the pool alive as long as it needs it, and the task is dropped once.
///
/// Seen to fail with: `PoolRef::schedule` without a reference of its own (it looks for a sleeper in a
/// pool that is gone).
#[test]
fn wake_while_the_pool_closes() {
    check(2, || {
        let drops = Drops::default();
        let stash = Stash::default();
        let pool = Pool::new(1, 0);
        spawn_idle(&pool, &stash, &drops);
        let waker = stash.take();
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let waking = thread::spawn(move || waker.wake());
        pool.close();
        drop(pool);
        waking.join().unwrap();
        worker.join().unwrap();
        assert_eq!(drops.count(), 1);
    });
}

/// Property: the worker that drops the last task of a pool that closes has one end that falls
/// asleep at that moment.
///
/// Seen to fail with: `left` that wakes nobody.
#[test]
fn the_last_task_ends_while_another_worker_falls_asleep() {
    check(2, || {
        let drops = Drops::default();
        let stash = Stash::default();
        let pool = Pool::new(2, 0);
        spawn_idle(&pool, &stash, &drops);
        drop(stash.take());
        let slots = [pool.occupy(0), pool.occupy(1)];
        loom::stop_exploring();
        let workers = slots.map(|slot| thread::spawn(move || slot.work()));
        while pool.sleeping() < 2 {
            thread::yield_now();
        }
        loom::explore();
        pool.close();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(pool.is_over());
        assert_eq!(drops.count(), 1);
    });
}

/// Property: a spare that is not needed any more leaves, also if it falls asleep at that moment.
///
/// Seen to fail with: `dismiss_spare` that wakes nobody; no fence in it; no fence in `sleep`; a `sleep`
/// that does not ask `may_leave`.
#[test]
fn a_spare_retires_while_it_falls_asleep() {
    check(3, || {
        let pool = Pool::new(1, 1);
        let (back, spare) = (pool.occupy(0), pool.occupy(1));
        let spare = thread::spawn(move || spare.work());
        // The worker comes back, dismisses its spare, and leaves by itself.
        pool.relieve(0, 1);
        pool.retire(0);
        back.work();
        spare.join().unwrap();
    });
}

/// Property: a spare that is not needed any more leaves, also if work came in at that moment which
/// the worker it stood in for has run.
///
/// Seen to fail with: a `sleep` that looks for shared work first, and leaves it at that.
#[test]
fn a_spare_retires_while_work_comes_in() {
    check(2, || {
        let pool = Pool::new(1, 1);
        let (back, spare) = (pool.occupy(0), pool.occupy(1));
        pool.relieve(0, 1);
        let spare = thread::spawn(move || spare.work());
        let back = thread::spawn(move || back.work());
        drop(pool.spawn(async {}));
        spare.join().unwrap();
        loom::skip_branch();
        pool.close();
        back.join().unwrap();
    });
}

/// Property: what a spare has in its queue when it leaves is run by a worker, also if that falls
/// asleep at that moment.
///
/// Seen to fail with: `hand_over` that queues without calling anybody.
#[test]
fn a_spare_hands_over_while_the_worker_falls_asleep() {
    check(2, || {
        let pool = Pool::new(1, 1);
        let (slot, spare) = (pool.occupy(0), pool.occupy(1));
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                pool.retire(1);
                let last = pool.clone();
                drop(pool.spawn(async move {
                    loom::skip_branch();
                    last.close();
                }));
            }
        }));
        let worker = thread::spawn(move || slot.work());
        spare.work();
        worker.join().unwrap();
        assert!(pool.is_over());
    });
}

/// Property: after a shutdown the poller's thread ends with the last task, whoever drops that.
///
/// Seen to fail with: `wait` that does not take the flag of a kick back; `left` that does not kick the
/// thread.
#[test]
fn the_poller_ends_with_the_last_task() {
    check_large(1, || {
        let pool = Pool::unmonitored(1, 0);
        pool.start_poller();
        drop(pool.spawn(future::pending::<()>()));
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        pool.shut_down();
        worker.join().unwrap();
    });
}

/// Property: a shutdown that finds no task at all ends the poller's thread as well.
///
/// Seen to fail with: `shutdown::begin` that does not kick the thread.
#[test]
fn the_poller_ends_without_a_task() {
    check(2, || {
        let pool = Pool::unmonitored(1, 0);
        pool.start_poller();
        pool.shut_down();
    });
}
