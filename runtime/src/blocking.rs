//! The blocking pool: threads for calls that block, grown on demand up to a bound.
//!
//! A closure becomes a task whose only poll runs it, so that handle, abort and panics are those of
//! every task. The queue is the task's owner: it runs or cancels each `Runnable` that is put into it.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use crate::companion::{self, ThreadKind};
use crate::context::{self, Role};
use crate::entered::EnteredScope;
use crate::handle::Handle;
use crate::hooks;
use crate::primitives::{Arc, Condvar, Mutex};
use crate::sched::{self, Pool};
use crate::task::{
    self, End, Header, JoinHandle, Listing, Origin, Runnable, Schedule, TaskRef, VISITED_TASKS,
};

/// The queue of closures and the count of threads; the threads are the runtime's.
#[derive(Default)]
pub(crate) struct BlockingPool {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    queue: VecDeque<Runnable>,
    threads: usize,
    /// Threads that wait for a closure. Each takes one, so a queue longer than this needs more.
    idle: usize,
    started: u64,
    spawned: u64,
    /// The number of closures that have left the queue. It tells those that are in the queue from earlier ones.
    taken: u64,
    /// The closures that are running, a place for each thread.
    running: Vec<Option<TaskRef>>,
    /// The number of times that closures have begun to wait for a thread when none waited before.
    fills: u64,
    closed: bool,
}

impl Inner {
    /// Returns true if one more closure would have a thread of its own, which may have to be started.
    fn has_thread(&self, pool: &Pool) -> bool {
        let may_start = self.threads < pool.config.max_blocking;
        !self.closed && (self.queue.len() < self.idle || may_start)
    }

    fn waiting(&self) -> usize {
        self.queue.len().saturating_sub(self.idle)
    }
}

/// The pool's part of the metrics.
pub(crate) struct BlockingCounts {
    pub(crate) threads: usize,
    pub(crate) idle: usize,
    pub(crate) queued: usize,
    /// Closures so far.
    pub(crate) spawned: u64,
}

impl BlockingPool {
    /// Refuses further closures, and returns those that have not begun.
    fn stop(&self) -> VecDeque<Runnable> {
        let unstarted = {
            let mut inner = self.inner.lock();
            inner.closed = true;
            std::mem::take(&mut inner.queue)
        };
        self.changed.notify_all();
        unstarted
    }

    /// Returns true if a closure waits or the threads should end.
    fn is_wanted(&self) -> bool {
        let inner = self.inner.lock();
        inner.closed || !inner.queue.is_empty()
    }

    /// Returns the closures that are running.
    pub(crate) fn running(&self) -> Vec<Origin> {
        self.inner.lock().running.iter().flatten().map(TaskRef::origin).collect()
    }

    /// Returns the closures that wait for a thread, and those that are running. One that begins meanwhile is in both.
    pub(crate) fn all(&self) -> (Vec<TaskRef>, Vec<TaskRef>) {
        let mut queued = Vec::new();
        // The first closure that has not been visited, and the end of those that were queued at the start. Closures are
        // numbered from the start of the pool.
        let (mut next, mut end) = (0, None);
        // In steps, like every visit of all tasks, so that the lock is not held for long.
        loop {
            let inner = self.inner.lock();
            let place = |number: u64| number.saturating_sub(inner.taken) as usize;
            let end = *end.get_or_insert(inner.taken + inner.queue.len() as u64);
            let from = place(next);
            let to = place(end).min(inner.queue.len()).min(from + VISITED_TASKS);
            if from >= to {
                let running = inner.running.iter().flatten().map(TaskRef::again).collect();
                return (queued, running);
            }
            queued.extend(inner.queue.range(from..to).map(TaskRef::of));
            next = inner.taken + to as u64;
        }
    }

    /// Returns the number of closures that wait for a thread, and the number of times that closures have begun to wait
    /// (`Inner::fills`). Returns `None` if none waits.
    pub(crate) fn fill(&self) -> Option<(usize, u64)> {
        let inner = self.inner.lock();
        Some((inner.waiting(), inner.fills)).filter(|(waiting, _)| *waiting > 0)
    }

    pub(crate) fn counts(&self) -> BlockingCounts {
        let inner = self.inner.lock();
        BlockingCounts {
            threads: inner.threads,
            idle: inner.idle,
            queued: inner.queue.len(),
            spawned: inner.spawned,
        }
    }
}

/// Refuses further closures, and cancels those that have not begun.
pub(crate) fn close(pool: &Pool) {
    pool.blocking.stop().into_iter().for_each(|runnable| end(pool, runnable, Runnable::cancel));
}

/// Queues a closure for the blocking pool, and starts a thread if none is idle.
pub(crate) fn spawn<F, T>(pool: &Arc<Pool>, f: F, origin: Origin) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    spawn_with(pool, f, origin, Urgency::Whenever).0
}

/// Has a thread of the pool run a closure at once. Returns false if none is idle and no other is available; the closure
/// is dropped then.
pub(crate) fn run_at_once(
    pool: &Arc<Pool>,
    f: impl FnOnce() + Send + 'static,
    origin: Origin,
) -> bool {
    if !pool.blocking.inner.lock().has_thread(pool) {
        return false;
    }
    spawn_with(pool, f, origin, Urgency::AtOnce).1
}

/// Queues a closure, and cancels closures that no thread will run soon enough. Returns true if there are none.
fn spawn_with<F, T>(
    pool: &Arc<Pool>,
    f: F,
    origin: Origin,
    urgency: Urgency,
) -> (JoinHandle<T>, bool)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (runnable, handle) = task::new_task(Closure(Some(f)), InQueue, origin, Listing::AtSpawn);
    pool.config.hooks.spawned(&runnable);
    pool.observe_closure(runnable.notes());
    let refused = queue(pool, runnable, urgency);
    let is_accepted = refused.is_empty();
    refused.into_iter().for_each(|runnable| end(pool, runnable, Runnable::cancel));
    (handle, is_accepted)
}

/// Runs or cancels a closure, and calls the hook for its end.
fn end(pool: &Pool, runnable: Runnable, how: fn(Runnable)) {
    let hook = pool.config.hooks.task_end();
    let told = hook.map(|hook| (hook, runnable.id(), runnable.origin()));
    pool.observe_blocking(runnable, how);
    if let Some((hook, id, origin)) = told {
        hooks::call_for_task(hook, id, &origin);
    }
}

/// The urgency with which a closure needs a thread.
#[derive(Clone, Copy, PartialEq)]
enum Urgency {
    Whenever,
    AtOnce,
}

/// Queues a closure. Returns the closures that no thread will ever run, or not soon enough.
fn queue(pool: &Arc<Pool>, runnable: Runnable, urgency: Urgency) -> VecDeque<Runnable> {
    let nothing = VecDeque::new;
    let id = runnable.id();
    let mut inner = pool.blocking.inner.lock();
    inner.spawned += 1;
    if inner.closed || (urgency == Urgency::AtOnce && !inner.has_thread(pool)) {
        return VecDeque::from([runnable]);
    }
    inner.queue.push_back(runnable);
    if inner.queue.len() <= inner.idle {
        drop(inner);
        pool.blocking.changed.notify_one();
        return nothing();
    }
    if inner.waiting() == 1 {
        inner.fills += 1;
    }
    if inner.threads == pool.config.max_blocking {
        drop(inner);
        if pool.config.long_polls.is_some() {
            // Closures that wait for long are reported. The lock orders this: see `LongPollWatch`.
            pool.monitor.switch_on();
        }
        return nothing();
    }
    let name = format!("{}-blocking-{}", pool.config.thread_name, inner.started);
    inner.threads += 1;
    inner.started += 1;
    drop(inner);
    let life = |pool: &Arc<Pool>| {
        companion::surround(pool, ThreadKind::Blocking, || run_thread(pool));
    };
    if sched::start_thread(pool, name, life).is_ok() {
        return nothing();
    }
    // The OS refuses a thread. Existing threads will run the closure; if there are none, all waiting closures are
    // refused.
    let mut inner = pool.blocking.inner.lock();
    inner.threads -= 1;
    if inner.threads == 0 {
        inner.taken += inner.queue.len() as u64;
        return std::mem::take(&mut inner.queue);
    }
    match urgency {
        Urgency::Whenever => nothing(),
        // An existing thread may have taken it by now.
        Urgency::AtOnce => {
            let place = inner.queue.iter().position(|queued| queued.id() == id);
            inner.taken += u64::from(place.is_some());
            place.and_then(|place| inner.queue.remove(place)).into_iter().collect()
        }
    }
}

/// Runs a thread of the pool until it should end.
fn run_thread(pool: &Arc<Pool>) {
    context::set_role(Role::Blocking);
    let _stops = hooks::thread_starts(pool);
    let handle = Handle::new(pool.clone());
    while let Some((runnable, place)) = next(pool, &handle) {
        // For each closure, because it may forget the guard of another runtime.
        let entered = EnteredScope::enter(handle.clone());
        end(pool, runnable, Runnable::run);
        drop(entered);
        // Dropped without the lock, because it may be the last reference.
        let ended = pool.blocking.inner.lock().running[place].take();
        drop(ended);
    }
}

/// Waits for a closure, and calls the park hooks if the thread sleeps. Returns `None` if the thread should end; it is
/// then no longer counted.
fn next(pool: &Arc<Pool>, handle: &Handle) -> Option<(Runnable, usize)> {
    let hooks = &pool.config.hooks;
    if !hooks.has_park() || pool.blocking.is_wanted() {
        return wait_for_next(pool);
    }
    let _entered = EnteredScope::enter(handle.clone());
    hooks.call_park();
    let next = wait_for_next(pool);
    hooks.call_unpark();
    next
}

/// Waits for a closure. Returns `None` if the thread should end; it is then no longer counted.
fn wait_for_next(pool: &Pool) -> Option<(Runnable, usize)> {
    let blocking = &pool.blocking;
    let mut inner = blocking.inner.lock();
    let mut timed_out = false;
    loop {
        if let Some(runnable) = inner.queue.pop_front() {
            let place = match inner.running.iter().position(Option::is_none) {
                Some(place) => place,
                None => {
                    inner.running.push(None);
                    inner.running.len() - 1
                }
            };
            inner.taken += 1;
            inner.running[place] = Some(TaskRef::of(&runnable));
            return Some((runnable, place));
        }
        if inner.closed || timed_out {
            inner.threads -= 1;
            return None;
        }
        inner.idle += 1;
        (inner, timed_out) = blocking.changed.wait_timeout(inner, pool.config.blocking_keep_alive);
        inner.idle -= 1;
    }
}

/// A closure as a future that is ready at its first poll.
pub(crate) struct Closure<F>(pub(crate) Option<F>);

// The closure is never pinned: it is moved out and called.
impl<F> Unpin for Closure<F> {}

impl<F: FnOnce() -> T, T> Future for Closure<F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<T> {
        let f = self.0.take().expect("a closure is called once");
        Poll::Ready(f())
    }
}

/// A blocking task is SCHEDULED from birth to its only run, so nobody ever schedules it.
#[derive(Clone, Copy)]
struct InQueue;

impl Schedule for InQueue {
    fn schedule(self, _runnable: Runnable) {
        unreachable!("a blocking task is queued once, when it is spawned");
    }

    fn release(self, _task: NonNull<Header>, _end: End) {}
}
