//! What the workers of one runtime share, and how tasks get into it.

use std::ptr::{self, NonNull};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::queue::Injector;
use super::sleepers::Sleepers;
use super::slot::{Counters, Slot};
use super::threads::Threads;
use super::watch::{Level, Watch};
use crate::blocking::BlockingPool;
use crate::context::{self, Role};
use crate::poller::Poller;
use crate::primitives::plain::{AtomicPtr, Ordering as Plain};
use crate::primitives::{Arc, AtomicBool, Ordering, fence};
use crate::task::{self, Header, JoinHandle, Origin, OwnedTasks, Runnable, Schedule};

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
    /// What tasks point to: one for each shard of `owned`.
    homes: Box<[HomeShard]>,
    pub(crate) watch: CachePadded<Watch>,
    poller: Arc<Poller>,
    pub(crate) blocking: BlockingPool,
    pub(crate) threads: Threads,
    /// Counts what happens on threads that are no workers of this runtime.
    pub(crate) foreign: CachePadded<Counters>,
    closing: AtomicBool,
}

impl Pool {
    pub(crate) fn new(config: Config, poller: Arc<Poller>) -> Arc<Self> {
        let slots = config.workers + config.spares;
        let owned = OwnedTasks::new(slots);
        let homes = (0..owned.shards())
            .map(|shard| HomeShard { pool: AtomicPtr::new(ptr::null_mut()), shard })
            .collect();
        let pool = Arc::new(Self {
            lane: CachePadded::new(Injector::new()),
            injector: CachePadded::new(Injector::new()),
            sleepers: CachePadded::new(Sleepers::new(slots)),
            slots: (0..slots).map(|_| CachePadded::new(Slot::new())).collect(),
            owned,
            homes,
            watch: CachePadded::new(Watch::new(poller.clone())),
            poller,
            blocking: BlockingPool::new(),
            threads: Threads::new(),
            foreign: CachePadded::default(),
            closing: AtomicBool::new(false),
            config,
        });
        for home in &pool.homes {
            home.pool.store(Arc::as_ptr(&pool).cast_mut(), Plain::Relaxed);
        }
        pool
    }

    /// Spawns a future on this pool. If the pool is closing, the future is dropped at once and the
    /// handle tells so.
    pub(crate) fn spawn<F>(&self, future: F, origin: Origin) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // SAFETY: both are `Send`.
        unsafe { self.spawn_unchecked(future, origin) }
    }

    /// # Safety
    ///
    /// The future and its output are `Send`, or the pool runs its tasks on the current thread only.
    pub(crate) unsafe fn spawn_unchecked<F>(
        &self,
        future: F,
        origin: Origin,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        context::with_worker(|worker| {
            let worker = worker.filter(|worker| ptr::eq(&**worker.pool(), self));
            let shard = match worker {
                Some(worker) => {
                    let count = worker.slot().counters.spawned.get();
                    self.owned.worker_shard(worker.index(), count)
                }
                None => self.owned.foreign_shard(foreign_spread()),
            };
            let home = Home(NonNull::from(&self.homes[shard]));
            let (runnable, handle) = task::new_task(future, home, origin);
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
        self.call_somebody();
    }

    /// Work waits that no particular worker answers for: wakes a sleeper, or has the watch look
    /// after it if all are busy. A searcher will come to it by itself.
    pub(crate) fn call_somebody(&self) {
        if !self.wake_one() && self.sleepers.all_busy() {
            self.watch.request(Level::Coarse);
        }
    }

    /// Wakes one sleeper, unless somebody searches; true if it did.
    pub(crate) fn wake_one(&self) -> bool {
        let woken = if self.sleepers.would_wake() { self.sleepers.pop() } else { None };
        if let Some(index) = woken {
            self.wake(index);
        }
        woken.is_some()
    }

    /// Wakes a worker that was popped.
    pub(crate) fn wake(&self, index: usize) {
        let slot = &self.slots[index];
        slot.unparker.unpark();
        // Partner of the fence in `Worker::sit`: either the worker sees its token before it waits,
        // or we see that it sits.
        fence(Ordering::SeqCst);
        if slot.seated.load(Ordering::Relaxed) {
            self.poller.kick_seat();
        }
    }

    /// Wakes every sleeper.
    pub(crate) fn wake_all(&self) {
        for index in self.sleepers.pop_all() {
            self.wake(index);
        }
    }

    /// Takes a single task from the shared queues.
    pub(crate) fn take_one(&self) -> Option<Runnable> {
        self.lane.take().or_else(|| self.injector.take())
    }

    /// True if, of those who are not asleep, at least `more_than` plus one get on.
    pub(crate) fn get_on(&self, more_than: usize) -> bool {
        let (mut at_work, mut slow) = (0, 0);
        for slot in &self.slots {
            at_work += usize::from(slot.occupied.load(Plain::Relaxed));
            slow += usize::from(slot.is_slow());
        }
        at_work > self.sleepers.sleeping() + slow + more_than
    }

    /// True if work waits that no particular worker answers for.
    pub(crate) fn has_shared_work(&self) -> bool {
        !self.lane.is_empty() || !self.injector.is_empty()
    }

    /// A worker keeps work for itself: has the watch step in if the worker does not get to it.
    #[inline]
    pub(crate) fn watch_over_kept(&self) {
        if self.watch.level() < Level::Fine {
            let level = if self.sleepers.sleeping() > 0 { Level::Fine } else { Level::Coarse };
            self.watch.request(level);
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

    pub(crate) fn poller(&self) -> &Arc<Poller> {
        &self.poller
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// True once the pool is closing and no task is left. A worker asks after it announced its
    /// sleep, and the one that takes the last task off its shard asks after that: the shards' locks
    /// put the two in an order, so that at least one of them gets the right answer.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closing() && self.owned.is_over()
    }

    fn released(&self) {
        if self.is_over() {
            self.wake_all();
            self.poller.kick();
        }
    }
}

/// Spreads the tasks of foreign threads over the shards, by thread.
fn foreign_spread() -> usize {
    windlass_sync::thread_cell!(static NEXT: usize = 0);
    NEXT.with(|next| next.replace(next.get().wrapping_add(1)))
}

/// A shard of the owner's list, and the pool it is part of.
struct HomeShard {
    pool: AtomicPtr<Pool>,
    shard: usize,
}

/// Where a task belongs, in one word.
///
/// A bare pointer, because counting references to the pool would make all spawning threads share
/// a cache line. It is valid while the task is in its shard: workers hold the pool and leave only
/// when the shards are empty. Wakers use it only with a `Runnable` in hand, and the task stays in
/// its shard until that was run.
#[derive(Clone, Copy)]
pub(crate) struct Home(NonNull<HomeShard>);

// SAFETY: `Pool` is `Sync`, and the pointer is used as described above only.
unsafe impl Send for Home {}
// SAFETY: as above.
unsafe impl Sync for Home {}

impl Home {
    /// # Safety
    ///
    /// The task is in its shard, or the caller holds the pool.
    unsafe fn get(self) -> (*const Pool, usize) {
        // SAFETY: part of the pool, which is alive, says the caller.
        let home = unsafe { self.0.as_ref() };
        (home.pool.load(Plain::Relaxed), home.shard)
    }
}

impl Schedule for Home {
    fn schedule(self, runnable: Runnable) {
        // SAFETY: the task is in its shard until `runnable` was run.
        let (pool, _) = unsafe { self.get() };
        context::with_worker(|worker| {
            if let Some(worker) = worker.filter(|worker| Arc::as_ptr(worker.pool()) == pool) {
                return worker.push_woken(runnable);
            }
            // Once pushed, the task may be run and the pool may end before we have looked for a
            // sleeper: a reference of our own bridges that.
            // SAFETY: the pool is alive here, as above.
            let pool = unsafe {
                Arc::increment_strong_count(pool);
                Arc::from_raw(pool)
            };
            if context::role() == Role::Poller {
                pool.push_lane(runnable);
            } else {
                pool.push(runnable);
            }
        });
    }

    fn reschedule(self, runnable: Runnable) {
        context::with_worker(|worker| {
            worker.expect("a task of a pool is run by its workers").push_again(runnable);
        });
    }

    fn release(self, task: NonNull<Header>, panicked: bool) {
        // SAFETY: the caller is a worker of the pool, or a spawner that holds it.
        let (pool, shard) = unsafe { self.get() };
        // SAFETY: as above.
        let pool = unsafe { &*pool };
        context::with_worker(|worker| {
            match worker.filter(|worker| std::ptr::eq(Arc::as_ptr(worker.pool()), pool)) {
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
        pool.owned.remove(shard, task);
        pool.released();
    }
}
