//! The functions that need no handle: they use the current runtime, or else the global one.

use std::future::Future;
use std::io;
use std::task::{Poll, Waker};

use crate::blocking;
use crate::context;
use crate::gone::gone;
use crate::handle::{Handle, refuse_on_worker};
use crate::task::{JoinHandle, Origin, boxed_if_large};

/// Runs a future on the calling thread until it is ready. What it spawns runs on the current runtime, or else on the
/// global one. The future need not be `Send`.
///
/// # Panics
///
/// Panics on a worker thread: await the future there instead, or move the blocking code to [`spawn_blocking`]. Panics
/// also outside of any runtime if the global one can't be started, because the OS refuses a thread or
/// `WINDLASS_WORKERS` is invalid.
///
/// # Examples
///
/// ```
/// assert_eq!(windlass::block_on(async { 42 }), 42);
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    refuse_on_worker();
    Handle::current().block_on(future)
}

/// Spawns a task on the current runtime, or on the global one outside of any.
///
/// The task starts at once, whether its handle is awaited or not, and dropping the handle detaches it. If the runtime
/// is shutting down, the future is dropped without being polled, and the handle returns a cancelled
/// [`JoinError`](crate::task::JoinError).
///
/// # Panics
///
/// Panics outside of any runtime if the global one can't be started, because the OS refuses a thread or
/// `WINDLASS_WORKERS` is invalid.
///
/// # Examples
///
/// ```
/// let handle = windlass::spawn(async { "done" });
/// assert_eq!(windlass::block_on(handle).unwrap(), "done");
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let origin = Origin::caller();
    boxed_if_large!(future => context::with_pool(|pool| pool.spawn(future, origin)))
}

/// Runs a closure that blocks (file access, a database driver) on a thread of the blocking pool, so that it blocks no
/// worker.
///
/// The pool grows on demand to [`max_blocking`](crate::Builder::max_blocking) threads; further closures wait for one. A
/// closure that has not begun is cancelled by `abort` and by shutdown, and if the OS refuses the pool's first thread.
///
/// # Panics
///
/// Panics outside of any runtime if the global one can't be started, because the OS refuses a thread or
/// `WINDLASS_WORKERS` is invalid. A panic of the closure is returned by its handle.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let text = windlass::spawn_blocking(|| std::fs::read_to_string("Cargo.toml")).await.unwrap();
/// # assert!(text.is_ok());
/// # });
/// ```
#[track_caller]
pub fn spawn_blocking<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let origin = Origin::caller();
    context::with_pool(|pool| blocking::spawn(pool, f, origin))
}

/// Lets the worker's other ready tasks run before this one continues. Dropping the future has no effect.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// for part in [1, 2, 3] {
///     std::hint::black_box(part); // some microseconds of work
///     windlass::yield_now().await;
/// }
/// # });
/// ```
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// Moves the task to the pool's ready queue, from which any worker may resume it.
///
/// In `block_on`, whose future can't move, the calling thread waits until a worker has taken a task from the
/// queue, and then continues on the same thread.
///
/// On Windows, the task is put into the ready queue by the callback of a Win32 thread-pool work item.
///
/// Dropping the future cancels the wait.
///
/// # Errors
///
/// Returns an error if the runtime is shutting down, and on Windows also if the OS can't create a work item.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let task = windlass::spawn(async {
///     windlass::resume_on_pool().await?;
///     Ok::<_, std::io::Error>(42) // on whichever worker came first
/// });
/// assert_eq!(task.await.unwrap()?, 42);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn resume_on_pool() -> io::Result<()> {
    if let Some(submitted) = context::with_pool(|pool| pool.poller().resume()) {
        submitted?.wait().await;
        return context::with_pool(|pool| if pool.is_closing() { Err(closing()) } else { Ok(()) });
    }
    let mut resumed = false;
    std::future::poll_fn(|cx| {
        context::with_pool(|pool| {
            if pool.is_closing() {
                return Poll::Ready(Err(closing()));
            }
            if std::mem::replace(&mut resumed, true) {
                return Poll::Ready(Ok(()));
            }
            let on_worker = context::with_worker(|worker| worker.map(|worker| worker.hop_next()));
            if on_worker.is_some() {
                cx.waker().wake_by_ref();
            } else {
                let wake = WakeOnDrop(cx.waker().clone());
                let origin = Origin::caller();
                drop(pool.spawn(async { drop(wake) }, origin));
            }
            Poll::Pending
        })
    })
    .await
}

fn closing() -> io::Error {
    gone("the runtime is shutting down")
}

/// Wakes a task when it is dropped, whether the task that holds it ran or was cancelled.
struct WakeOnDrop(Waker);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        self.0.wake_by_ref();
    }
}
