//! How the models in `loom-tests` reach the real tasks and the real scheduler.
//!
//! A thin layer: what it adds of its own is a scheduler for models of a single task.

use std::collections::VecDeque;
use std::future::Future;
use std::panic::Location;
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};

pub use crate::fork::model::Fork;
pub use crate::poller::model::{Kicks, Pipe, Reader, Source, Waiter};
use crate::poller::{self, Clock, Poller};
pub use crate::poller::{Direction, Seen};
use crate::primitives::plain::{AtomicUsize, Ordering as Plain};
use crate::primitives::{Arc, AtomicPtr, Mutex, Ordering};
use crate::sched::{self, Config, Level, Worker};
use crate::shutdown;
use crate::task::{self, End, Header, JoinHandle, Listing, Origin, OwnedTasks, Schedule};

/// The right to run a task.
#[derive(Debug)]
pub struct Runnable(task::Runnable);

impl Runnable {
    /// Polls the task once, or drops its future if it was cancelled.
    pub fn run(self) {
        self.0.run();
    }

    /// Drops the task's future.
    pub fn cancel(self) {
        self.0.cancel();
    }
}

/// The scheduler of a model with one task: a place for its `Runnable`.
///
/// The place orders no more than every queue must: who takes the `Runnable` sees the task as who put it
/// there did. All else rests on the task's state word. The model keeps the place until the task is
/// complete.
#[derive(Debug)]
pub struct Ready {
    place: AtomicPtr<Header>,
    released: AtomicUsize,
}

impl Ready {
    /// An empty place.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { place: AtomicPtr::new(ptr::null_mut()), released: AtomicUsize::new(0) })
    }

    /// Makes a task that is put here when it is woken.
    pub fn task<F: Future>(&self, future: F) -> (Runnable, JoinHandle<F::Output>) {
        let link = Link(NonNull::from(self));
        let (runnable, handle) = task::new_task(future, link, origin(), Listing::AtSpawn);
        (Runnable(runnable), handle)
    }

    /// The `Runnable`, if the task was woken.
    pub fn take(&self) -> Option<Runnable> {
        // Acquire pairs with the Release in `schedule`.
        let header = NonNull::new(self.place.swap(ptr::null_mut(), Ordering::Acquire))?;
        // SAFETY: put here by `schedule`, which gave up a `Runnable`, and taken out once.
        Some(Runnable(unsafe { task::Runnable::new(header) }))
    }

    /// Runs the task until it stays idle.
    pub fn run_all(&self) {
        while let Some(runnable) = self.take() {
            runnable.run();
        }
    }

    /// How often the task left its owner.
    pub fn released(&self) -> usize {
        self.released.load(Plain::Relaxed)
    }
}

#[derive(Clone, Copy)]
struct Link(NonNull<Ready>);

// SAFETY: `Ready` is `Sync`, and the model keeps it.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

impl Link {
    fn get(&self) -> &Ready {
        // SAFETY: kept by the model until the task is complete.
        unsafe { self.0.as_ref() }
    }
}

impl Schedule for Link {
    fn schedule(self, runnable: task::Runnable) {
        let header = runnable.into_header().as_ptr();
        // Release pairs with the Acquire in `take`.
        let before = self.get().place.swap(header, Ordering::Release);
        assert!(before.is_null(), "a task has two `Runnable`s");
    }

    fn release(self, _task: NonNull<Header>, _end: End) {
        self.get().released.fetch_add(1, Plain::Relaxed);
    }
}

/// The scheduler of a model of the owner's list: the list, and a queue behind a lock.
pub struct Owner {
    owned: OwnedTasks,
    ready: Mutex<VecDeque<task::Runnable>>,
}

impl Owner {
    /// An empty list.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { owned: OwnedTasks::new(0), ready: Mutex::new(VecDeque::new()) })
    }

    /// Makes a task that is to be bound before it is run.
    pub fn task<F: Future>(&self, future: F) -> (Runnable, JoinHandle<F::Output>) {
        self.new_task(future, Listing::AtSpawn)
    }

    /// Makes a task that is bound when its first poll returns `Pending`.
    pub fn late_task<F: Future>(&self, future: F) -> (Runnable, JoinHandle<F::Output>) {
        self.new_task(future, Listing::Late)
    }

    fn new_task<F>(&self, future: F, listing: Listing) -> (Runnable, JoinHandle<F::Output>)
    where
        F: Future,
    {
        let member = Member(NonNull::from(self));
        let (runnable, handle) = task::new_task(future, member, origin(), listing);
        (Runnable(runnable), handle)
    }

    /// Takes a task into the list; false if that is closed.
    pub fn bind(&self, runnable: &Runnable) -> bool {
        self.owned.bind(0, runnable.0.header())
    }

    /// Takes a task into the list and runs it; cancels it if the list is closed.
    pub fn bind_and_run(&self, runnable: Runnable) {
        if self.bind(&runnable) {
            runnable.run();
        } else {
            runnable.cancel();
        }
    }

    /// Closes the list, and queues what it returns.
    pub fn close(&self) {
        let idle = self.owned.close();
        self.ready.lock().extend(idle);
    }

    /// Runs what is queued.
    pub fn run_all(&self) {
        loop {
            let next = self.ready.lock().pop_front();
            match next {
                Some(runnable) => runnable.run(),
                None => return,
            }
        }
    }

    /// True if the list is closed and every task is complete.
    pub fn is_over(&self) -> bool {
        self.owned.is_over()
    }
}

#[derive(Clone, Copy)]
struct Member(NonNull<Owner>);

// SAFETY: `Owner` is `Sync`, and the model keeps it.
unsafe impl Send for Member {}
// SAFETY: as above.
unsafe impl Sync for Member {}

impl Member {
    fn get(&self) -> &Owner {
        // SAFETY: kept by the model until the task is complete.
        unsafe { self.0.as_ref() }
    }
}

impl Schedule for Member {
    fn schedule(self, runnable: task::Runnable) {
        self.get().ready.lock().push_back(runnable);
    }

    fn bind(self, task: NonNull<Header>) -> bool {
        self.get().owned.bind(0, task)
    }

    fn release(self, task: NonNull<Header>, end: End) {
        if end.listed {
            self.get().owned.remove(0, task);
        }
    }
}

/// The shared half of a runtime, without threads.
#[derive(Clone)]
pub struct Pool(Arc<sched::Pool>);

impl Pool {
    /// A pool with so many places for workers and for spares. It is watched as closely as can be,
    /// so that asking for it costs a model nothing.
    pub fn new(workers: usize, spares: usize) -> Self {
        let pool = Self::unwatched(workers, spares);
        pool.0.watch.request(Level::Fine);
        pool
    }

    /// As [`new`](Self::new), with the watch switched off.
    pub fn unwatched(workers: usize, spares: usize) -> Self {
        let config = Config {
            workers,
            spares,
            searchers: (workers / 2).max(1),
            awake_to_spin: 0,
            compute_share: 50,
            stuck_after: Duration::ZERO,
            max_blocking: 1,
            blocking_keep_alive: Duration::ZERO,
            thread_name: String::new(),
            stack_size: None,
        };
        let poller = Poller::new(workers, false, Clock::of_the_os())
            .expect("models have no OS that could fail");
        Self(sched::Pool::new(config, Arc::new(poller)))
    }

    /// Has workers sit on the OS when they sleep.
    pub fn with_sources(self) -> Self {
        self.0.poller().pretend_in_use();
        self
    }

    /// A pipe with a number of its own, not registered yet.
    pub fn pipe(&self, number: usize) -> Pipe {
        Pipe::new(self.0.poller(), number)
    }

    /// Looks at the OS once, as a worker does.
    pub fn harvest(&self) {
        self.0.poller().harvest();
    }

    /// The shard of a thread that is no worker.
    pub fn foreign_timers(&self) -> &windlass_timer::Home {
        self.0.poller().timers().foreign(0)
    }

    /// The shard of a worker.
    pub fn worker_timers(&self, index: usize) -> &windlass_timer::Home {
        self.0.poller().timers().worker(index)
    }

    /// Spawns a task.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.0.spawn(future, origin())
    }

    /// Queues a computation.
    pub fn compute<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        crate::fork::model::compute(&self.0, f, origin())
    }

    /// A worker for fork-join, on the current thread.
    pub fn fork(&self, index: usize) -> Fork {
        Fork::new(&self.0, index)
    }

    /// Wakes somebody for an offer.
    pub fn wake_thief(&self) {
        self.0.wake_thief();
    }

    /// Has a thread work here, as `relieve` and `start_worker` do before the thread begins.
    pub fn occupy(&self, index: usize) -> Workplace {
        self.0.slots[index].retire.store(false, Ordering::Relaxed);
        self.0.slots[index].occupied.store(true, Plain::Relaxed);
        Workplace { pool: self.clone(), index }
    }

    /// Starts the poller's thread. In a model the watch's pauses never run out, it looks when it is
    /// kicked; a guard's are over at once.
    pub fn start_poller(&self) {
        poller::start(&self.0).expect("models have no OS that could fail");
    }

    /// Begins to shut down, as a runtime does.
    pub fn shut_down(&self) {
        shutdown::begin(&self.0);
    }

    /// Cancels all tasks, and lets no new one in.
    pub fn close(&self) {
        self.0.close();
    }

    /// Wakes every sleeper.
    pub fn wake_all(&self) {
        self.0.wake_all();
    }

    /// True if the pool is closed and no task is left.
    pub fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Tells the worker in a place to leave.
    pub fn retire(&self, index: usize) {
        self.0.slots[index].retire.store(true, Ordering::Release);
    }

    /// Has a worker find, when it comes back from a poll, that a spare stands in for it.
    pub fn relieve(&self, index: usize, spare: usize) {
        self.0.slots[index].relief.store(spare + 1, Ordering::Relaxed);
    }

    /// As [`relieve`](Self::relieve), while the worker computes.
    pub fn relieve_computing(&self, index: usize, spare: usize) {
        self.0.slots[spare].for_tasks.store(true, Plain::Relaxed);
        self.relieve(index, spare);
    }

    /// How many workers sleep.
    pub fn sleeping(&self) -> usize {
        self.0.sleepers.sleeping()
    }

    /// True if no task waits that no particular worker answers for.
    pub fn is_idle(&self) -> bool {
        !self.0.has_shared_work()
    }

    /// True unless the watch is off.
    pub fn is_watched(&self) -> bool {
        self.0.watch.level() > Level::Off
    }

    /// True while a worker has a place.
    pub fn is_occupied(&self, index: usize) -> bool {
        self.0.slots[index].occupied.load(Plain::Relaxed)
    }

    /// One who watches the workers, as the poller's thread does.
    pub fn watcher(&self) -> Watcher {
        Watcher { inner: sched::Watcher::new(&self.0), start: Instant::now() }
    }
}

/// What the poller's thread remembers of the workers.
pub struct Watcher {
    inner: sched::Watcher,
    start: Instant,
}

impl Watcher {
    /// Looks at the workers, so long after the beginning.
    pub fn look(&mut self, pool: &Pool, after: Duration) {
        self.inner.look(&pool.0, self.start + after);
    }
}

/// A place that a worker is about to take.
pub struct Workplace {
    pool: Pool,
    index: usize,
}

impl Workplace {
    /// Works on the current thread until the worker leaves.
    pub fn work(self) {
        let Self { pool: Pool(pool), index } = self;
        let worker = Worker::new(pool.clone(), index).expect("somebody works there");
        worker.run();
        pool.slots[index].occupied.store(false, Plain::Relaxed);
    }
}

/// Who sleeps and who searches.
pub struct Sleepers(sched::Sleepers);

impl Sleepers {
    /// Everybody awake.
    pub fn new(workers: usize) -> Self {
        Self(sched::Sleepers::new(workers))
    }

    /// A worker announces that it sleeps, and stops searching if it did.
    pub fn announce(&self, index: usize, searching: bool) {
        self.0.announce(index, searching);
    }

    /// Takes all sleepers off the stack, as searchers, and gives them to `wake` one by one.
    pub fn pop_all(&self, wake: impl FnMut(usize)) {
        self.0.pop_all().for_each(wake);
    }

    /// A searcher has found work; true if it was the last.
    pub fn stop_search(&self) -> bool {
        self.0.stop_search()
    }

    /// Takes a sleeper off the stack, as a searcher, unless somebody searches.
    pub fn pop(&self) -> Option<usize> {
        self.0.pop()
    }

    /// How many sleep and how many search.
    pub fn counts(&self) -> (usize, usize) {
        (self.0.sleeping(), self.0.searching())
    }
}

/// The place for the task just woken.
pub struct LifoSlot(sched::LifoSlot);

impl LifoSlot {
    /// An empty place.
    pub fn new() -> Self {
        Self(sched::LifoSlot::new())
    }

    /// Puts a task in, by the owner, and gives the one that was there.
    pub fn put(&self, runnable: Runnable) -> Option<Runnable> {
        self.0.put(runnable.0).map(Runnable)
    }

    /// Takes the task out.
    pub fn take(&self) -> Option<Runnable> {
        self.0.take().map(Runnable)
    }
}

impl Default for LifoSlot {
    fn default() -> Self {
        Self::new()
    }
}

#[track_caller]
fn origin() -> Origin {
    Origin::new(Location::caller(), None)
}
