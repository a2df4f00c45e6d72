//! The functions that need no handle: they find the runtime by themselves.

use std::future::Future;
use std::io;
use std::panic::Location;
use std::task::{Poll, Waker};

use crate::blocking;
use crate::context;
use crate::gone::gone;
use crate::handle::{Handle, refuse_on_worker};
use crate::task::{JoinHandle, Origin, boxed_if_large};

/// Runs a future on the calling thread until it is done, with the current runtime, or else the
/// global one, at hand for what it spawns. The future need not be `Send`.
///
/// # Panics
///
/// On a worker thread: await the future there instead, or move the blocking code to
/// [`spawn_blocking`]. And outside of any runtime, if the global one can't be started: no thread to be
/// had, or a bad `WINDLASS_WORKERS`.
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

/// Spawns a task on the current runtime, or on the global one outside of any. It starts at once,
/// whether its handle is awaited or not; dropping the handle lets it go on. A runtime that shuts down
/// drops the task unpolled, and its handle says cancelled.
///
/// # Panics
///
/// Outside of any runtime, if the global one can't be started: no thread to be had, or a bad
/// `WINDLASS_WORKERS`.
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
    let origin = Origin::new(Location::caller(), None);
    boxed_if_large!(future => context::spawn(future, origin))
}

/// Runs a closure that blocks (a file, a database driver, a long `sleep`) on a thread of its own
/// from the blocking pool, so that it holds up no worker.
///
/// The pool grows on demand to [`max_blocking`](crate::Builder::max_blocking) threads; beyond that,
/// closures queue. One that has not begun is cancelled by `abort` and by shutdown, and also if the
/// OS has no thread left to begin with.
///
/// # Panics
///
/// Outside of any runtime, if the global one can't be started: no thread to be had, or a bad
/// `WINDLASS_WORKERS`.
/// A panic of the closure is reported by its handle.
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
    let origin = Origin::new(Location::caller(), None);
    context::with_pool(|pool| blocking::spawn(pool, f, origin))
}

/// Lets the other ready tasks of the worker run before this one goes on. Dropping the future changes
/// nothing.
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

/// Continues through the pool's ready queue: the task is taken up by whichever worker comes
/// first. On a thread that is no worker (in `block_on`) it waits for the pool to come round, and
/// goes on there.
///
/// On Windows the way leads through a work item of the Win32 thread pool, whose callback puts the task
/// into the ready queue.
///
/// Dropping the future leaves nothing behind.
///
/// # Errors
///
/// If the runtime is shutting down; on Windows also if the OS has no work item to give.
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
                let origin = Origin::new(Location::caller(), None);
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

/// Wakes when it is dropped: by the task that holds it, or by that task's cancellation.
struct WakeOnDrop(Waker);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        self.0.wake_by_ref();
    }
}
