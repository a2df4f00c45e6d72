//! Threads for tasks that are not `Send`.
//!
//! They are threads of their own and no workers. On a worker, a task that can't move would wait as long as that worker
//! is stuck in somebody else's blocking call or computation, and no spare could help: it would be the one kind of task
//! for which the runtime's promise does not hold. Here it waits for nobody but the other tasks that were pinned.

use std::future::{Future, poll_fn};
use std::panic::Location;
use std::task::Poll;

use super::tasks::LocalTasks;
use crate::companion::{self, ThreadKind};
use crate::context;
use crate::handle::Handle;
use crate::hooks;
use crate::poller::outside::Expected;
use crate::primitives::{Arc, Mutex};
use crate::sched::{self, Pool};
use crate::task::{JoinHandle, Origin, boxed_if_large};

/// The threads for pinned tasks of one runtime, started on demand.
#[derive(Default)]
pub(crate) struct PinnedThreads(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    threads: Vec<Arc<LocalTasks>>,
    closed: bool,
}

/// Spawns a task that is made and run on one thread for its whole life, so that its future need not be `Send`: only the
/// closure that makes it does.
///
/// The thread is one of a few that the runtime starts for such tasks, when they are needed and as many as it has workers. It is
/// no worker, so pinned tasks go on while all workers are busy or stuck. A pinned task that blocks holds up the others on its
/// thread, and nothing else. A new task goes to the thread with the fewest. Inside, [`spawn_local`](crate::task::spawn_local)
/// spawns onto the same thread.
///
/// The handle can be used as that of any task. Shutting the runtime down cancels it. If the OS has no thread to
/// begin with, the task is cancelled at once. Dropping the handle lets it go on.
///
/// # Panics
///
/// Outside of any runtime, if the global one can't be started: no thread to be had, or a bad `WINDLASS_WORKERS`.
///
/// # Examples
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// # windlass::block_on(async {
/// let task = windlass::task::spawn_pinned(|| async {
///     let count = Rc::new(Cell::new(0)); // not `Send`
///     for _ in 0..3 {
///         windlass::yield_now().await;
///         count.set(count.get() + 1);
///     }
///     count.get()
/// });
/// assert_eq!(task.await.unwrap(), 3);
/// # });
/// ```
#[track_caller]
pub fn spawn_pinned<F, Fut>(f: F) -> JoinHandle<Fut::Output>
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future + 'static,
    Fut::Output: Send + 'static,
{
    let origin = Origin::new(Location::caller(), None);
    context::with_pool(|pool| spawn_on(pool, f, origin))
}

impl Handle {
    /// Spawns a task that stays on one thread; see [`task::spawn_pinned`](crate::task::spawn_pinned).
    #[track_caller]
    pub fn spawn_pinned<F, Fut>(&self, f: F) -> JoinHandle<Fut::Output>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        spawn_on(self.pool(), f, Origin::new(Location::caller(), None))
    }
}

fn spawn_on<F, Fut>(pool: &Arc<Pool>, f: F, origin: Origin) -> JoinHandle<Fut::Output>
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future + 'static,
    Fut::Output: Send + 'static,
{
    let tasks = choose(pool);
    let future = async move { f().await };
    // SAFETY: before its first poll it is the closure, which is `Send`; so is the output, which is all that the handle
    // gets.
    boxed_if_large!(future => unsafe { LocalTasks::spawn(&tasks, future, origin) })
}

/// The thread with the fewest tasks, or a new one. Without any, tasks that take in nothing.
fn choose(pool: &Arc<Pool>) -> Arc<LocalTasks> {
    let mut inner = pool.pinned.0.lock();
    let fewest = inner.threads.iter().min_by_key(|tasks| tasks.unfinished()).cloned();
    let full = inner.threads.len() >= pool.config.workers || inner.closed;
    match fewest {
        Some(tasks) if full || tasks.unfinished() == 0 => return tasks,
        _ => {}
    }
    let new = LocalTasks::new(pool.clone());
    if !full {
        let name = format!("{}-pinned-{}", pool.config.thread_name, inner.threads.len());
        let (tasks, expected) = (new.clone(), Expected::new(pool));
        // Under the lock, so that as many are started as are counted; nothing of the program runs here.
        if sched::start_thread(pool, name, move |pool| run_thread(pool, tasks, expected)).is_ok() {
            inner.threads.push(new.clone());
            return new;
        }
    }
    drop(inner);
    fewest.unwrap_or_else(|| {
        new.close();
        new
    })
}

/// The life of one thread.
fn run_thread(pool: &Arc<Pool>, tasks: Arc<LocalTasks>, expected: Expected) {
    companion::surround(pool, ThreadKind::Blocking, || {
        let _stops = hooks::thread_starts(pool);
        let (ours, mut expected) = (tasks.clone(), Some(expected));
        let end = poll_fn(move |_| {
            // It counts by itself from here on.
            drop(expected.take());
            if ours.is_ending() { Poll::Ready(()) } else { Poll::Pending }
        });
        Handle::new(pool.clone()).block_on_with(end, Some(tasks));
    });
}

/// Has the threads cancel their tasks and come to their end.
pub(crate) fn close(pool: &Pool) {
    let mut inner = pool.pinned.0.lock();
    inner.closed = true;
    let threads = inner.threads.clone();
    drop(inner);
    threads.iter().for_each(|tasks| tasks.ask_to_end());
}

/// The pinned tasks that are being polled at this moment.
pub(crate) fn running(pool: &Pool) -> Vec<Origin> {
    let threads = pool.pinned.0.lock().threads.clone();
    threads.iter().filter_map(|tasks| tasks.running()).collect()
}

/// Lets go of the threads, which have ended or will by themselves.
pub(crate) fn forget(pool: &Pool) {
    let threads = std::mem::take(&mut pool.pinned.0.lock().threads);
    drop(threads);
}
