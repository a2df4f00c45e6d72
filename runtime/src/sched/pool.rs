//! What the workers of one runtime share, and how tasks get into it.

use std::ptr::NonNull;
use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::queue::Injector;
use super::sleepers::Sleepers;
use super::slot::{Counters, Slot};
use super::threads::Threads;
use super::watch::Watch;
use crate::blocking::BlockingPool;
use crate::context::{self, Role};
use crate::primitives::{Arc, AtomicBool, Ordering, fence};
use crate::task::{Header, OwnedTasks, Runnable, Schedule};

/// The settings of a runtime, checked by its builder.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) workers: usize,
    pub(crate) spares: usize,
    pub(crate) searchers: usize,
    pub(crate) may_spin: bool,
    pub(crate) stuck_after: Duration,
    pub(crate) max_blocking: usize,
    pub(crate) blocking_keep_alive: Duration,
    pub(crate) thread_name: String,
    pub(crate) stack_size: Option<usize>,
}

/// The shared half of a runtime's scheduler.
pub(crate) struct Pool {
    pub(crate) config: Config,
    /// What the poller and the timers push: looked at before the injector, so that I/O does not
    /// queue behind a backlog of spawns.
    pub(crate) lane: CachePadded<Injector>,
    /// What foreign threads push.
    pub(crate) injector: CachePadded<Injector>,
    pub(crate) sleepers: CachePadded<Sleepers>,
    /// Workers first, then spares.
    pub(crate) slots: Box<[CachePadded<Slot>]>,
    pub(crate) owned: OwnedTasks,
    pub(crate) watch: CachePadded<Watch>,
    pub(crate) blocking: BlockingPool,
    pub(crate) threads: Threads,
    /// Counts what happens on threads that are no workers of this runtime.
    pub(crate) foreign: CachePadded<Counters>,
    closing: AtomicBool,
}

impl Pool {
    pub(crate) fn new(config: Config, watch: Watch) -> Self {
        let slots = config.workers + config.spares;
        Self {
            lane: CachePadded::new(Injector::new()),
            injector: CachePadded::new(Injector::new()),
            sleepers: CachePadded::new(Sleepers::new(slots)),
            slots: (0..slots).map(|_| CachePadded::new(Slot::new())).collect(),
            owned: OwnedTasks::new(slots),
            watch: CachePadded::new(watch),
            blocking: BlockingPool::new(),
            threads: Threads::new(),
            foreign: CachePadded::default(),
            closing: AtomicBool::new(false),
            config,
        }
    }

    /// Spawns a future on this pool. If the pool is closing, the future is dropped at once and the
    /// handle tells so.
    pub(crate) fn spawn<F>(
        self: &Arc<Self>,
        future: F,
        origin: crate::task::Origin,
    ) -> crate::task::JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        context::with_worker(|worker| {
            let worker = worker.filter(|worker| Arc::ptr_eq(worker.pool(), self));
            let shard = match worker {
                Some(worker) => worker.index(),
                None => self.owned.foreign_shard(foreign_spread()),
            };
            // SAFETY: never null; the list of owned tasks keeps the pool alive, see `Home`.
            let pool = unsafe { NonNull::new_unchecked(Arc::as_ptr(self).cast_mut()) };
            let (runnable, handle) = crate::task::new_task(future, Home { pool, shard }, origin);
            match worker {
                Some(worker) => worker.slot().counters.spawned.bump(),
                None => self.foreign.spawned.bump_shared(),
            }
            if !self.owned.bind(shard, &runnable) {
                runnable.cancel();
            } else if let Some(worker) = worker {
                worker.push(runnable);
            } else {
                self.push(runnable);
            }
            handle
        })
    }

    /// Puts a task into the injector and sees to it that somebody comes.
    pub(crate) fn push(&self, runnable: Runnable) {
        self.injector.push(runnable);
        self.after_push();
    }

    /// As [`push`](Self::push), into the fast lane.
    pub(crate) fn push_lane(&self, runnable: Runnable) {
        self.lane.push(runnable);
        self.after_push();
    }

    /// Partner of the fences in `Worker::sleep` and `Worker::found`: either we see the sleeper (or
    /// that nobody searches), or it sees what was pushed.
    fn after_push(&self) {
        fence(Ordering::SeqCst);
        self.wake_one();
    }

    /// Wakes one sleeper, unless somebody searches.
    pub(crate) fn wake_one(&self) {
        if self.sleepers.would_wake() {
            if let Some(index) = self.sleepers.pop() {
                self.slots[index].unparker.unpark();
            }
        }
    }

    /// Wakes every sleeper.
    pub(crate) fn wake_all(&self) {
        while let Some(index) = self.sleepers.pop_any() {
            self.slots[index].unparker.unpark();
        }
    }

    /// True if work waits that no particular worker answers for.
    pub(crate) fn has_shared_work(&self) -> bool {
        !self.lane.is_empty() || !self.injector.is_empty()
    }

    /// A worker queues work and leaves others asleep: asks the watch to step in if the worker
    /// does not get to it.
    pub(crate) fn watch_over_deferred(&self) {
        if self.watch.wants_fine() && self.sleepers.would_wake() {
            self.watch.request(super::watch::Level::Fine);
        }
    }

    /// No task is taken in from now on; all there are get cancelled, and the workers leave when
    /// the last is gone.
    pub(crate) fn close(&self) {
        // Relaxed: a worker that must know locks the shards, which orders it. See `is_over`.
        if self.closing.swap(true, Ordering::Relaxed) {
            return;
        }
        for runnable in self.owned.close() {
            self.push(runnable);
        }
        fence(Ordering::SeqCst);
        self.wake_all();
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// True once the pool is closing and no task is left. A worker asks after it announced its
    /// sleep, and the one that takes the last task off its shard asks after that: the shards' locks
    /// put the two in an order, so that at least one of them gets the right answer.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closing() && self.owned.is_empty()
    }

    fn released(&self) {
        if self.is_over() {
            self.wake_all();
        }
    }
}

/// Spreads the tasks of foreign threads over the shards, by thread.
fn foreign_spread() -> usize {
    windlass_sync::thread_cell!(static NEXT: usize = 0);
    NEXT.with(|next| next.replace(next.get().wrapping_add(1)))
}

/// Where a task belongs: its pool, and the shard of the owner's list that it is in.
///
/// A bare pointer, because counting references to the pool would make all spawning threads share
/// a cache line. It is valid while the task is in its shard: workers hold the pool and leave only
/// when the shards are empty. Wakers use it only with a `Runnable` in hand, and the task stays in
/// its shard until that was run.
#[derive(Clone, Copy)]
pub(crate) struct Home {
    pool: NonNull<Pool>,
    shard: usize,
}

// SAFETY: `Pool` is `Sync`, and the pointer is used as described above only.
unsafe impl Send for Home {}
// SAFETY: as above.
unsafe impl Sync for Home {}

impl Schedule for Home {
    fn schedule(self, runnable: Runnable) {
        context::with_worker(|worker| {
            match worker.filter(|worker| Arc::as_ptr(worker.pool()) == self.pool.as_ptr()) {
                Some(worker) => worker.push_woken(runnable),
                None => {
                    // Once pushed, the task may be run and the pool may end before we have looked
                    // for a sleeper: a reference of our own bridges that.
                    // SAFETY: the task is in its shard until `runnable` was run, so the pool is
                    // alive here.
                    let pool = unsafe {
                        Arc::increment_strong_count(self.pool.as_ptr());
                        Arc::from_raw(self.pool.as_ptr())
                    };
                    if context::role() == Role::Poller {
                        pool.push_lane(runnable);
                    } else {
                        pool.push(runnable);
                    }
                }
            }
        });
    }

    fn reschedule(self, runnable: Runnable) {
        context::with_worker(|worker| {
            worker
                .expect("a task of a pool is run by its workers")
                .push_again(runnable);
        });
    }

    fn release(self, task: NonNull<Header>, panicked: bool) {
        // SAFETY: the caller is a worker of the pool, or a spawner that holds it.
        let pool = unsafe { self.pool.as_ref() };
        context::with_worker(|worker| {
            match worker.filter(|worker| Arc::as_ptr(worker.pool()) == self.pool.as_ptr()) {
                Some(worker) => {
                    let counters = &worker.slot().counters;
                    counters.finished.bump();
                    if panicked {
                        counters.panicked.bump();
                    }
                }
                None => {
                    pool.foreign.finished.bump_shared();
                    if panicked {
                        pool.foreign.panicked.bump_shared();
                    }
                }
            }
        });
        pool.owned.remove(self.shard, task);
        pool.released();
    }
}
