//! What the workers of one runtime share, and how tasks get into it.

use std::ptr::{self, NonNull};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::queue::Injector;
use super::sleepers::Sleepers;
use super::slot::{Counter, Counters, Slot};
use super::threads::Threads;
use super::watch::{Level, Watch};
use super::worker::Worker;
use crate::blocking::BlockingPool;
use crate::context::{self, Role};
use crate::poller::Poller;
use crate::primitives::plain::{AtomicPtr, AtomicUsize as PlainUsize, Ordering as Plain};
use crate::primitives::{Arc, AtomicBool, Ordering, fence};
use crate::task::{self, End, Header, JoinHandle, Listing, Origin, OwnedTasks, Runnable, Schedule};

/// The settings of a runtime, checked by its builder.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) workers: usize,
    pub(crate) spares: usize,
    pub(crate) searchers: usize,
    /// A worker spins only while no more workers than this are awake: a core must be left over for
    /// those whose answer it waits for.
    pub(crate) awake_to_spin: usize,
    /// Percentage of its time that a worker leaves to a computation while tasks wait.
    pub(crate) compute_share: u32,
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
    /// Fork-join roots: beside the tasks, so that neither queues behind the other.
    pub(crate) roots: CachePadded<Injector>,
    /// How many workers sleep in a join. A hint.
    pub(crate) joiners: CachePadded<PlainUsize>,
    pub(crate) sleepers: CachePadded<Sleepers>,
    /// Workers first, then spares.
    pub(crate) slots: Box<[Arc<CachePadded<Slot>>]>,
    pub(crate) owned: OwnedTasks,
    /// What tasks point to: one for each shard of `owned`.
    homes: Box<[HomeShard]>,
    pub(crate) watch: CachePadded<Watch>,
    poller: Arc<Poller>,
    pub(crate) blocking: BlockingPool,
    pub(crate) threads: Threads,
    /// Counts what happens on threads that are no workers of this runtime.
    pub(crate) foreign: CachePadded<Counters>,
    /// Tasks that such a thread spawned too late, and dropped.
    pub(crate) refused: Counter,
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
            roots: CachePadded::new(Injector::new()),
            joiners: CachePadded::default(),
            sleepers: CachePadded::new(Sleepers::new(slots)),
            slots: (0..slots).map(|_| Arc::new(CachePadded::new(Slot::new()))).collect(),
            owned,
            homes,
            watch: CachePadded::new(Watch::new(poller.clone())),
            poller,
            blocking: BlockingPool::new(),
            threads: Threads::new(),
            foreign: CachePadded::default(),
            refused: Counter::default(),
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

    /// As [`spawn`](Self::spawn), for a fork-join root.
    pub(crate) fn spawn_root<F>(&self, future: F, origin: Origin) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        // SAFETY: both are `Send`.
        unsafe { self.spawn_as(future, origin, Kind::Root) }
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
        // SAFETY: the caller says so.
        unsafe { self.spawn_as(future, origin, Kind::Task) }
    }

    /// # Safety
    ///
    /// As [`spawn_unchecked`](Self::spawn_unchecked).
    unsafe fn spawn_as<F>(&self, future: F, origin: Origin, kind: Kind) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        context::with_worker(|worker| {
            match worker.filter(|worker| ptr::eq(&**worker.pool(), self)) {
                Some(worker) if matches!(kind, Kind::Task) => self.spawn_on(worker, future, origin),
                _ => self.spawn_shared(future, origin, kind),
            }
        })
    }

    /// Spawns onto the queue of the current worker.
    #[inline]
    fn spawn_on<F>(&self, worker: &Worker, future: F, origin: Origin) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let spawned = &worker.slot().counters.spawned;
        let shard = self.owned.worker_shard(worker.index(), spawned.get());
        // The list waits until the task does, which many never do. A named one is listed at once, for
        // shutdown to name it; so is one that no task has spawned, for then no unfinished task
        // tells that there may be more.
        let late = origin.name.is_none() && worker.slot().is_polling();
        let listing = if late { Listing::Late } else { Listing::AtSpawn };
        let (runnable, handle) = task::new_task(future, self.home(shard), origin, listing);
        // Before it can finish: nobody may see more tasks finished than spawned.
        spawned.bump();
        let refused =
            if late { self.is_closing() } else { !self.owned.bind(shard, runnable.header()) };
        if refused {
            runnable.cancel();
        } else {
            worker.push(runnable);
        }
        handle
    }

    /// Spawns for any worker to take.
    fn spawn_shared<F>(&self, future: F, origin: Origin, kind: Kind) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let shard = self.owned.foreign_shard(foreign_spread());
        let (runnable, handle) = task::new_task(future, self.home(shard), origin, Listing::AtSpawn);
        if self.owned.bind(shard, runnable.header()) {
            // Before it can finish, as above.
            self.foreign.spawned.bump_shared();
            match kind {
                Kind::Task => self.injector.push(runnable),
                Kind::Root => self.roots.push(runnable),
            }
            self.after_push();
        } else {
            // A worker counts what ends in its hands as finished, so this must have been spawned.
            context::with_worker(|worker| {
                if let Some(worker) = worker.filter(|worker| ptr::eq(&**worker.pool(), self)) {
                    worker.slot().counters.spawned.bump();
                }
            });
            runnable.cancel();
        }
        handle
    }

    fn home(&self, shard: usize) -> Home {
        Home(NonNull::from(&self.homes[shard]))
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
            // A computation may show no split point: then a spare must come soon.
            let computing = self.slots.iter().any(|slot| slot.is_computing());
            self.watch.request(if computing { Level::Fine } else { Level::Coarse });
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

    /// How many workers are not asleep.
    pub(crate) fn awake(&self) -> usize {
        let at_work = self.slots.iter().filter(|slot| slot.occupied.load(Plain::Relaxed)).count();
        at_work.saturating_sub(self.sleepers.sleeping())
    }

    /// True if tasks wait that no particular worker answers for.
    pub(crate) fn has_shared_work(&self) -> bool {
        !self.lane.is_empty() || !self.injector.is_empty()
    }

    /// True if a worker has tasks in its own queue, which it may be kept from.
    pub(crate) fn has_kept_work(&self) -> bool {
        self.slots.iter().any(|slot| slot.has_work())
    }

    /// True if a computation waits to be begun.
    pub(crate) fn has_root(&self) -> bool {
        !self.roots.is_empty()
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

    /// True once the pool is closing and no task is left. The list is asked first, then the counters:
    /// see *Shutdown* in this folder's `README.md`.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closing() && self.owned.is_over() && self.unfinished() == 0
    }

    /// How many tasks are unfinished, listed or not.
    pub(crate) fn unfinished(&self) -> u64 {
        // Finished before spawned: a task that ends in between must not count as ended only, nor hide
        // another.
        let finished: u64 = self.slots.iter().map(|slot| slot.counters.finished.get()).sum();
        self.spawned() - finished
    }

    /// How many tasks were taken in.
    pub(crate) fn spawned(&self) -> u64 {
        let by_workers: u64 = self.slots.iter().map(|slot| slot.counters.spawned.get()).sum();
        by_workers + self.foreign.spawned.get()
    }

    /// The tasks that are being polled at this moment.
    pub(crate) fn running(&self) -> Vec<Origin> {
        let mut running =
            self.owned.running(|task| self.slots.iter().any(|slot| slot.is_in_poll_of(task)));
        let unlisted = self.slots.iter().filter_map(|slot| slot.unlisted());
        running.extend(unlisted.map(|location| Origin::new(location, None)));
        running
    }

    /// A worker leaves. If it finds the pool over, all others are to find that too.
    pub(super) fn left(&self) {
        // Partner of the fence in `Worker::sleep`: of those who have ended a task, the last to pass its
        // fence sees what all of them have done, and whoever sleeps.
        fence(Ordering::SeqCst);
        if self.is_over() {
            self.wake_all();
            self.poller.kick();
        }
    }
}

/// What is spawned.
enum Kind {
    Task,
    Root,
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
/// when the shards are empty. Wakers use it only with the `Runnable` of a task that was idle, which is
/// in its shard then, and stays there until that was run. All others who use it are workers.
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
        // SAFETY: the task was idle, so it is in its shard, and stays there until `runnable` was run.
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

    fn bind(self, task: NonNull<Header>) -> bool {
        // SAFETY: the caller is a worker of the pool.
        let (pool, shard) = unsafe { self.get() };
        // SAFETY: as above.
        unsafe { &*pool }.owned.bind(shard, task)
    }

    fn release(self, task: NonNull<Header>, end: End) {
        // SAFETY: the caller is a worker of the pool, or a spawner that holds it.
        let (pool, shard) = unsafe { self.get() };
        // SAFETY: as above.
        let pool = unsafe { &*pool };
        if end.listed {
            pool.owned.remove(shard, task);
        }
        context::with_worker(|worker| {
            match worker.filter(|worker| ptr::eq(Arc::as_ptr(worker.pool()), pool)) {
                Some(worker) => {
                    let counters = &worker.slot().counters;
                    if end.panicked {
                        counters.panicked.bump();
                    }
                    counters.finished.bump();
                }
                // Only workers finish what was taken in.
                None => {
                    if end.panicked {
                        pool.foreign.panicked.bump_shared();
                    }
                    pool.refused.bump_shared();
                }
            }
        });
    }
}
