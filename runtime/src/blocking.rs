//! The blocking pool: threads for calls that block, grown on demand up to a bound.
//!
//! A closure becomes a task whose only poll runs it, so that handle, abort and panics are those of
//! every task. The queue is the task's owner: it runs or cancels each `Runnable` that is put into it.
//!
//! The poller's thread may ask for a thread to call wakers ([`call_wakers`]). That is no task, so that neither hooks nor
//! observers are called there. It is granted only if a thread is idle or can be started, which looks for it before it
//! looks whether the pool is closed: what was granted is done, however soon the pool closes.
//!
//! A closure is accepted while a thread is counted, and a thread is counted before the OS has granted it. If the OS
//! refuses it and no other is counted, whoever wanted to start it is left with what was accepted meanwhile: a thread
//! that spawns closures cancels them all. The poller's thread must not drop them. It asks for a thread, at each of its
//! looks, until there is one that runs or cancels them (`poller/hand_on.rs`).

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
use crate::poller;
use crate::primitives::{Arc, Condvar, Mutex, MutexGuard};
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
    /// A thread is to call wakers, and has not begun.
    calls_wakers: bool,
    threads: usize,
    /// Threads that wait for something to do. Each takes one, so a queue longer than this needs more.
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
    /// Returns how many threads are wanted for what waits.
    fn wanted(&self) -> usize {
        self.queue.len() + usize::from(self.calls_wakers)
    }

    /// Returns how many closures wait that no idle thread will take at once.
    fn waiting(&self) -> usize {
        self.wanted().saturating_sub(self.idle).min(self.queue.len())
    }

    /// Returns true if closures wait that no thread is there or about to come for.
    fn is_stranded(&self) -> bool {
        self.threads == 0 && !self.queue.is_empty()
    }

    /// Takes all closures that wait.
    fn take_all(&mut self) -> VecDeque<Runnable> {
        self.taken += self.queue.len() as u64;
        std::mem::take(&mut self.queue)
    }

    /// Lists a closure among those that are running, and returns its place.
    fn list_running(&mut self, runnable: &Runnable) -> usize {
        let place = self.running.iter().position(Option::is_none).unwrap_or_else(|| {
            self.running.push(None);
            self.running.len() - 1
        });
        self.running[place] = Some(TaskRef::of(runnable));
        place
    }
}

/// The pool's part of the metrics.
pub(crate) struct BlockingCounts {
    pub(crate) threads: usize,
    pub(crate) idle: usize,
    pub(crate) queued: usize,
    /// A thread is to call wakers, and has not begun.
    pub(crate) calls_wakers: bool,
    /// Closures so far.
    pub(crate) spawned: u64,
}

impl BlockingPool {
    /// Refuses further closures, and returns those that have not begun, for [`cancel`].
    pub(crate) fn close(&self) -> VecDeque<Runnable> {
        let unstarted = {
            let mut inner = self.inner.lock();
            inner.closed = true;
            std::mem::take(&mut inner.queue)
        };
        self.changed.notify_all();
        unstarted
    }

    /// Returns true if something waits for a thread or the threads should end.
    fn is_wanted(&self) -> bool {
        let inner = self.inner.lock();
        inner.closed || inner.wanted() > 0
    }

    /// Lists a closure no longer among those that are running.
    fn unlist(&self, place: usize) {
        // Without the lock: it may be the last reference.
        let ended = self.inner.lock().running[place].take();
        drop(ended);
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
            calls_wakers: inner.calls_wakers,
            spawned: inner.spawned,
        }
    }
}

/// Cancels closures that have not begun, which drops what they have captured.
pub(crate) fn cancel(pool: &Pool, unstarted: VecDeque<Runnable>) {
    for runnable in unstarted {
        // Its drop may not return: then shutdown names it.
        let place = pool.blocking.inner.lock().list_running(&runnable);
        end(pool, runnable, Runnable::cancel);
        pool.blocking.unlist(place);
    }
}

/// Queues a closure for the blocking pool, and starts a thread if none is idle.
pub(crate) fn spawn<F, T>(pool: &Arc<Pool>, f: F, origin: Origin) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let (runnable, handle) = task::new_task(Closure(Some(f)), InQueue, origin, Listing::AtSpawn);
    pool.config.hooks.spawned(&runnable);
    pool.observe_closure(runnable.notes());
    let refused = queue(pool, runnable);
    refused.into_iter().for_each(|runnable| end(pool, runnable, Runnable::cancel));
    handle
}

/// Has a thread of the pool call wakers in the place of the poller's thread. Returns false if none is idle and no other
/// is available. Calls no code of the program, and is called by the poller's thread alone.
pub(crate) fn call_wakers(pool: &Arc<Pool>) -> bool {
    let mut inner = pool.blocking.inner.lock();
    let may_start = inner.threads < pool.config.max_blocking;
    if inner.closed || !(inner.wanted() < inner.idle || may_start) {
        return false;
    }
    if std::mem::replace(&mut inner.calls_wakers, true) {
        return true;
    }
    // If the OS refuses a thread, those that are busy are not waited for; but one of them may have come to it by now.
    call_thread(pool, inner)
        || !std::mem::replace(&mut pool.blocking.inner.lock().calls_wakers, false)
}

/// Returns true if closures wait for a thread that the OS has refused to [`call_wakers`], and no other is there. The
/// poller's thread may not drop them.
pub(crate) fn has_stranded(pool: &Pool) -> bool {
    pool.blocking.inner.lock().is_stranded()
}

/// Cancels closures that wait and have no thread to wait for.
pub(crate) fn cancel_stranded(pool: &Pool) {
    let mut inner = pool.blocking.inner.lock();
    let stranded = if inner.is_stranded() { inner.take_all() } else { VecDeque::new() };
    drop(inner);
    cancel(pool, stranded);
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

/// Queues a closure. Returns the closures that no thread will ever run.
fn queue(pool: &Arc<Pool>, runnable: Runnable) -> VecDeque<Runnable> {
    let nothing = VecDeque::new;
    let mut inner = pool.blocking.inner.lock();
    inner.spawned += 1;
    if inner.closed {
        return VecDeque::from([runnable]);
    }
    inner.queue.push_back(runnable);
    if inner.waiting() == 1 {
        inner.fills += 1;
    }
    if inner.waiting() > 0 && inner.threads == pool.config.max_blocking {
        drop(inner);
        if pool.config.long_polls.is_some() {
            // Closures that wait for long are reported. The lock orders this: see `LongPollWatch`.
            pool.monitor.switch_on();
        }
        return nothing();
    }
    if call_thread(pool, inner) {
        return nothing();
    }
    // The OS refuses a thread. Existing threads will run the closure; without any, all that wait are refused.
    let mut inner = pool.blocking.inner.lock();
    if inner.threads > 0 {
        return nothing();
    }
    inner.take_all()
}

/// Has a thread come for what was just queued: one that is idle, or else a new one. Returns false if the OS refuses that.
fn call_thread(pool: &Arc<Pool>, mut inner: MutexGuard<'_, Inner>) -> bool {
    if inner.wanted() <= inner.idle {
        drop(inner);
        pool.blocking.changed.notify_one();
        return true;
    }
    let name = format!("{}-blocking-{}", pool.config.thread_name, inner.started);
    inner.threads += 1;
    inner.started += 1;
    drop(inner);
    let life = |pool: &Arc<Pool>| {
        companion::surround(pool, ThreadKind::Blocking, || run_thread(pool));
    };
    let is_started = sched::start_thread(pool, name, life).is_ok();
    if !is_started {
        pool.blocking.inner.lock().threads -= 1;
    }
    is_started
}

/// What a thread of the pool is to do.
enum Next {
    /// Run a closure, which is listed at this place.
    Closure(Runnable, usize),
    CallWakers,
}

/// Runs a thread of the pool until it should end.
fn run_thread(pool: &Arc<Pool>) {
    context::set_role(Role::Blocking);
    let _stops = hooks::thread_starts(pool);
    let handle = Handle::new(pool.clone());
    while let Some(next) = next(pool, &handle) {
        // For each closure, because it may forget the guard of another runtime.
        let entered = EnteredScope::enter(handle.clone());
        match next {
            Next::CallWakers => poller::call_wakers(pool),
            Next::Closure(runnable, place) => {
                end(pool, runnable, Runnable::run);
                drop(entered);
                pool.blocking.unlist(place);
            }
        }
    }
}

/// Waits for something to do, and calls the park hooks if the thread sleeps. Returns `None` if the thread should end; it
/// is then no longer counted.
fn next(pool: &Arc<Pool>, handle: &Handle) -> Option<Next> {
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

/// Waits for something to do. Returns `None` if the thread should end; it is then no longer counted.
fn wait_for_next(pool: &Pool) -> Option<Next> {
    let blocking = &pool.blocking;
    let mut inner = blocking.inner.lock();
    let mut timed_out = false;
    loop {
        if std::mem::take(&mut inner.calls_wakers) {
            return Some(Next::CallWakers);
        }
        if let Some(runnable) = inner.queue.pop_front() {
            inner.taken += 1;
            let place = inner.list_running(&runnable);
            return Some(Next::Closure(runnable, place));
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

#[cfg(all(test, not(loom)))]
pub(crate) mod tests {
    use std::panic::Location;

    use super::*;

    /// Spawns a closure while the poller's thread starts the only thread, which the OS then refuses.
    pub(crate) fn strand<T: Send + 'static>(
        pool: &Arc<Pool>,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        assert_eq!(pool.config.max_blocking, 1);
        pool.blocking.inner.lock().threads += 1;
        let handle = spawn(pool, f, Origin::new(Location::caller(), None));
        pool.blocking.inner.lock().threads -= 1;
        assert_eq!(pool.blocking.counts().queued, 1, "it was accepted");
        handle
    }
}
