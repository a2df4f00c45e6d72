//! Threads for tasks that are not `Send`.
//!
//! They are not workers. On a worker, a task that can't move would wait as long as that worker is stuck in a blocking
//! call or a computation, and no spare could help. On these threads, it waits only for other pinned tasks.

use std::future::{Future, poll_fn};
use std::task::Poll;

use super::tasks::LocalTasks;
use crate::companion::{self, ThreadKind};
use crate::context;
use crate::handle::Handle;
use crate::hooks;
use crate::poller::outside_activity::Expected;
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

/// Spawns a task that stays on one thread from its creation to its end. Its future need not be `Send`; only the closure
/// that creates it does.
///
/// The runtime starts threads for such tasks on demand, at most as many as it has workers, and a new task goes to the
/// thread with the fewest. These threads are not workers, so pinned tasks run even while all workers are busy or stuck.
/// A pinned task that blocks holds up only the others on its thread. In a pinned task,
/// [`spawn_local`](crate::task::spawn_local) spawns onto the same thread.
///
/// Dropping the handle detaches the task. Shutting the runtime down cancels it. If the OS refuses the first thread, the
/// task is cancelled at once.
///
/// # Panics
///
/// Panics outside of any runtime if the global one can't be started, because the OS refuses a thread or
/// `WINDLASS_WORKERS` is invalid.
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
    let origin = Origin::caller();
    context::with_pool(|pool| spawn(pool, f, origin))
}

impl Handle {
    /// Spawns a task that stays on one thread; see [`task::spawn_pinned`](crate::task::spawn_pinned).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// let runtime = windlass::Runtime::new()?;
    /// let task = runtime.handle().spawn_pinned(|| async { *Rc::new(42) });
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn_pinned<F, Fut>(&self, f: F) -> JoinHandle<Fut::Output>
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future + 'static,
        Fut::Output: Send + 'static,
    {
        spawn(self.pool(), f, Origin::caller())
    }
}

/// Spawns a task onto one of the pool's threads for pinned tasks.
fn spawn<F, Fut>(pool: &Arc<Pool>, f: F, origin: Origin) -> JoinHandle<Fut::Output>
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future + 'static,
    Fut::Output: Send + 'static,
{
    let tasks = choose(pool);
    let future = async move { f().await };
    // SAFETY: before its first poll the future holds only the closure, which is `Send`. So is the output, which is all
    // that the handle can reach.
    boxed_if_large!(future => unsafe { LocalTasks::spawn(&tasks, future, origin) })
}

/// Returns the tasks of the thread with the fewest, or of a new thread. If there is no thread, returns closed tasks,
/// which refuse everything.
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
        // Under the lock, so that no more are started than are counted; no code of the program runs here.
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

/// Runs a thread until shutdown.
fn run_thread(pool: &Arc<Pool>, tasks: Arc<LocalTasks>, expected: Expected) {
    companion::surround(pool, ThreadKind::Blocking, || {
        let _stops = hooks::thread_starts(pool);
        let (ours, mut expected) = (tasks.clone(), Some(expected));
        let end = poll_fn(move |_| {
            // From here on, the thread is counted by `block_on`.
            drop(expected.take());
            if ours.is_ending() { Poll::Ready(()) } else { Poll::Pending }
        });
        Handle::new(pool.clone()).block_on_with(end, None, Some(tasks));
    });
}

/// Asks the threads to cancel their tasks and to end.
pub(crate) fn close(pool: &Pool) {
    let mut inner = pool.pinned.0.lock();
    inner.closed = true;
    let threads = inner.threads.clone();
    drop(inner);
    threads.iter().for_each(|tasks| tasks.ask_to_end());
}

/// Returns the tasks of each thread.
pub(super) fn threads(pool: &Pool) -> Vec<Arc<LocalTasks>> {
    pool.pinned.0.lock().threads.clone()
}

/// Returns the pinned tasks that are being polled.
pub(crate) fn running(pool: &Pool) -> Vec<Origin> {
    threads(pool).iter().filter_map(|tasks| tasks.running()).collect()
}

/// Releases the threads, which have ended or will end on their own.
pub(crate) fn forget(pool: &Pool) {
    let threads = std::mem::take(&mut pool.pinned.0.lock().threads);
    drop(threads);
}
