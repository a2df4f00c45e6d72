//! The tasks of one thread: a queue that any thread may push woken tasks into, and that only its own thread empties.
//!
//! | field | who may touch it |
//! |---|---|
//! | a task's future | the executor's thread, from the first poll to the drop; before the first poll it is `Send` |
//! | the queue, the executor's waker | the holder of the lock |
//! | `unfinished` | incremented before a task can run, decremented by the thread that completes it |
//!
//! # Protocol
//!
//! A task points to its `LocalTasks` without counting a reference. The pointer is valid while the task is unfinished,
//! because the executor keeps the `LocalTasks` until `unfinished` is 0. A waker uses the pointer only if it has just
//! scheduled the task, which was idle and so unfinished; the task stays unfinished until the executor has taken it out
//! of the queue. Before the push, the waker takes a counted reference, because after the push everything may be over
//! before the executor has been woken.
//!
//! To wake: push, take the executor's waker, release the lock, wake. To wait: the executor stores its waker *under the
//! lock*, and does not wait if the queue is not empty. So either the executor sees the task, or the pusher sees the
//! executor's waker.
//!
//! To end: `close` refuses further tasks, cancels all idle ones and queues them. The executor runs the queue until no
//! task is unfinished. It also waits for a task that another thread has scheduled and not yet pushed.

use std::collections::VecDeque;
use std::num::NonZero;
use std::ptr::NonNull;
use std::task::{Context, Waker};
use std::time::Instant;

use windlass_timer::nanos;

use crate::coop;
use crate::hooks;
use crate::observe::LocalObserver;
use crate::primitives::plain::{AtomicU64 as PlainU64, Ordering as Plain};
use crate::primitives::{Arc, AtomicUsize, Mutex, Ordering, thread};
use crate::sched::Pool;
use crate::task::{
    self, End, Header, JoinHandle, Listing, Origin, OwnedTasks, Runnable, Schedule, TaskRef,
};

/// The only shard of the list.
const SHARD: usize = 0;

/// Tasks that are run by one thread.
pub(crate) struct LocalTasks {
    owned: OwnedTasks,
    inner: Mutex<Inner>,
    unfinished: AtomicUsize,
    /// When the last poll began, in nanoseconds, or the time between two polls. Written by the executor's thread.
    clock: PlainU64,
    /// Used by the executor's thread.
    observer: LocalObserver,
    /// Used for its hooks, and to observe the tasks.
    pool: Arc<Pool>,
}

#[derive(Default)]
struct Inner {
    ready: VecDeque<Runnable>,
    /// Wakes the executor, if it waits.
    waker: Option<Waker>,
    /// The address of the task that is being polled, to be compared.
    running: Option<NonZero<usize>>,
    /// Set when the executor should end.
    ending: bool,
}

impl LocalTasks {
    pub(crate) fn new(pool: Arc<Pool>) -> Arc<Self> {
        Arc::new(Self {
            owned: OwnedTasks::new(0),
            inner: Mutex::new(Inner::default()),
            unfinished: AtomicUsize::new(0),
            clock: PlainU64::new(0),
            observer: LocalObserver::new(pool.clone()),
            pool,
        })
    }

    /// Spawns a task. If the executor is ending, the future is dropped at once, and the handle returns a
    /// cancelled error.
    ///
    /// # Safety
    ///
    /// The future is `Send` until it is polled for the first time, or the current thread is the executor's.
    pub(crate) unsafe fn spawn<F>(
        tasks: &Arc<Self>,
        future: F,
        origin: Origin,
    ) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let scheduler = InLocalTasks(Arc::as_ptr(tasks));
        let (runnable, handle) = task::new_task(future, scheduler, origin, Listing::AtSpawn);
        tasks.pool.config.hooks.spawned(&runnable);
        tasks.pool.observe_spawn(runnable.notes());
        // Relaxed: published with the task, by the lock.
        tasks.unfinished.fetch_add(1, Ordering::Relaxed);
        if tasks.owned.bind(SHARD, runnable.header()) {
            tasks.push(runnable);
        } else {
            runnable.cancel();
        }
        handle
    }

    fn push(&self, runnable: Runnable) {
        self.change_and_wake(|inner| inner.ready.push_back(runnable));
    }

    /// Changes what the executor waits for, and wakes the executor if it waits.
    fn change_and_wake(&self, change: impl FnOnce(&mut Inner)) {
        let mut inner = self.inner.lock();
        change(&mut inner);
        let waker = inner.waker.take();
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Runs the tasks that are ready now, each once, on the executor's thread. Wakes the executor if more are ready
    /// afterwards or it should end; otherwise the next push will.
    pub(crate) fn run_ready(&self, cx: &mut Context<'_>) {
        let batch = self.inner.lock().ready.len();
        if batch > 0 {
            self.read_clock();
        }
        for _ in 0..batch {
            if !self.run_next() {
                break;
            }
        }
        let mut inner = self.inner.lock();
        inner.running = None;
        if inner.ready.is_empty() && !inner.ending {
            let known = inner.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker()));
            let old = if known { None } else { inner.waker.replace(cx.waker().clone()) };
            drop(inner);
            // Without the lock, because a waker's drop may run user code.
            drop(old);
        } else {
            drop(inner);
            cx.waker().wake_by_ref();
        }
    }

    /// Runs the next task, on the executor's thread. Returns false if none is ready.
    fn run_next(&self) -> bool {
        let mut inner = self.inner.lock();
        let Some(runnable) = inner.ready.pop_front() else { return false };
        inner.running = Some(runnable.header().addr());
        drop(inner);
        self.observer.begin_poll(runnable.notes(), self.clock.load(Plain::Relaxed));
        // The task must not see the state of the code that called the executor.
        let _belonging = task::set_aside();
        coop::budgeted(|| runnable.run());
        true
    }

    /// Returns the number of tasks that have not ended.
    pub(super) fn unfinished(&self) -> usize {
        self.unfinished.load(Ordering::Relaxed)
    }

    /// Returns the task that is being polled.
    pub(super) fn running(&self) -> Option<Origin> {
        let running = self.inner.lock().running?;
        self.owned.running(|task| task.addr() == running).pop()
    }

    /// Returns all tasks. For one that is being polled, also returns when the poll began, in nanoseconds.
    pub(crate) fn all(&self) -> impl Iterator<Item = (TaskRef, Option<u64>)> {
        let all = self.owned.all();
        let running = self.inner.lock().running;
        let since = self.clock.load(Plain::Relaxed);
        all.into_iter().map(move |task| {
            let is_it = Some(task.as_pointer().addr()) == running;
            let is_running = is_it && task.header().state.load().is_scheduled();
            (task, is_running.then_some(since))
        })
    }

    /// Returns true if the tasks are of this runtime.
    pub(super) fn is_of(&self, pool: &Arc<Pool>) -> bool {
        Arc::ptr_eq(&self.pool, pool)
    }

    /// Reads the clock, on the executor's thread, if the runtime is observed. Returns the times of the last reading and
    /// of this one.
    fn read_clock(&self) -> (u64, u64) {
        let before = self.clock.load(Plain::Relaxed);
        if !self.pool.is_observed() {
            return (before, before);
        }
        let now = nanos(Instant::now());
        self.clock.store(now, Plain::Relaxed);
        (before, now)
    }

    /// Returns true if the executor should end.
    pub(super) fn is_ending(&self) -> bool {
        self.inner.lock().ending
    }

    /// Asks the executor to end.
    pub(super) fn ask_to_end(&self) {
        self.change_and_wake(|inner| inner.ending = true);
    }

    /// Cancels all tasks and waits until they have ended, on the executor's thread.
    pub(crate) fn close(&self) {
        self.read_clock();
        for runnable in self.owned.close() {
            self.push(runnable);
        }
        // Acquire pairs with the Release in `release`: no task uses this any more.
        while self.unfinished.load(Ordering::Acquire) > 0 {
            if !self.run_next() {
                thread::yield_now();
            }
        }
        let mut inner = self.inner.lock();
        inner.running = None;
        let waker = inner.waker.take();
        drop(inner);
        drop(waker);
    }
}

/// The scheduler of these tasks: see *Protocol*.
#[derive(Clone, Copy)]
struct InLocalTasks(*const LocalTasks);

// SAFETY: `LocalTasks` is `Sync`, and the pointer is used only as described above.
unsafe impl Send for InLocalTasks {}
// SAFETY: as above.
unsafe impl Sync for InLocalTasks {}

impl Schedule for InLocalTasks {
    fn schedule(self, runnable: Runnable) {
        // SAFETY: the task is unfinished until `runnable` has run, so the `LocalTasks` are alive, in their `Arc`.
        let tasks = unsafe {
            Arc::increment_strong_count(self.0);
            Arc::from_raw(self.0)
        };
        tasks.push(runnable);
    }

    fn timed(self, task: &Header) {
        // SAFETY: the task is unfinished, so the `LocalTasks` are alive.
        let tasks = unsafe { &*self.0 };
        let (start, now) = tasks.read_clock();
        tasks.observer.end_poll(task, start, now);
    }

    fn release(self, task: NonNull<Header>, end: End) {
        // SAFETY: the task counts as unfinished until the end of this.
        let tasks = unsafe { &*self.0 };
        if let Some(hook) = tasks.pool.config.hooks.task_end() {
            // SAFETY: the owner's reference keeps the task alive until this returns.
            let (id, origin) = unsafe { (task.as_ref().id, Header::origin(task)) };
            hooks::call_for_task(hook, id, &origin);
        }
        // SAFETY: as above.
        tasks.pool.observe_end(unsafe { &task.as_ref().notes });
        if end.listed {
            tasks.owned.remove(SHARD, task);
        }
        // Release pairs with the Acquire in `close`: from here on the `LocalTasks` may be gone.
        tasks.unfinished.fetch_sub(1, Ordering::Release);
    }
}
