//! The runtime, which owns the workers and shuts them down.

use std::future::Future;
use std::time::{Duration, Instant};

use crate::builder::Builder;
use crate::companion;
use crate::context;
use crate::handle::Handle;
use crate::local::pinned;
use crate::metrics::Metrics;
use crate::primitives::Arc;
use crate::sched::Pool;
use crate::shutdown::{self, ShutdownReport};
use crate::task::JoinHandle;

/// A pool of workers with its poller and its blocking pool.
///
/// Dropping a runtime shuts it down as [`shutdown`](Self::shutdown) does, with a deadline of 5 seconds. If one of its
/// own threads drops it, the drop does not wait, and the threads end on their own.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// let runtime = windlass::Runtime::new()?;
/// let sum = runtime.block_on(async {
///     let a = windlass::spawn(async { 1 });
///     let b = windlass::spawn(async { 2 });
///     a.await.unwrap() + b.await.unwrap()
/// });
/// assert_eq!(sum, 3);
/// assert!(runtime.shutdown(Duration::from_secs(30)).is_clean());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
    ended: bool,
}

impl Runtime {
    /// Starts a runtime with the default settings: a worker for each CPU.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if `WINDLASS_WORKERS` is invalid, and the OS's error if a thread can't be started or the
    /// poller's descriptors can't be opened.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// assert_eq!(runtime.block_on(async { 42 }), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new() -> std::io::Result<Runtime> {
        Builder::new().build()
    }

    pub(crate) fn of(pool: Arc<Pool>) -> Self {
        Self { handle: Handle::new(pool), ended: false }
    }

    /// Runs a future on the calling thread until it is ready; see [`Handle::block_on`].
    ///
    /// # Panics
    ///
    /// Panics on a worker thread.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Spawns a task onto this runtime; see [`spawn`](crate::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let task = runtime.spawn(async { 42 });
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a closure that blocks on this runtime's blocking pool; see [`spawn_blocking`](crate::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let file = runtime.spawn_blocking(|| std::fs::read("Cargo.toml"));
    /// assert!(runtime.block_on(file).unwrap().is_ok());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.handle.spawn_blocking(f)
    }

    /// Returns the handle to this runtime, which can be cloned and sent to other threads.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let handle = runtime.handle().clone();
    /// let thread = std::thread::spawn(move || handle.spawn(async { 42 }));
    /// assert_eq!(runtime.block_on(thread.join().unwrap()).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Makes this runtime the current one of the calling thread; see [`Handle::enter`], which also says when dropping
    /// the guard panics.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let _entered = runtime.enter();
    /// let task = windlass::spawn(async { 42 }); // on `runtime`
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn enter(&self) -> crate::EnterGuard<'static> {
        self.handle.enter()
    }

    /// Returns a snapshot of the runtime's counters.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// assert_eq!(runtime.metrics().tasks_spawned, 1);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn metrics(&self) -> Metrics {
        self.handle.metrics()
    }

    /// Shuts the runtime down: cancels every task, waits for their futures to be dropped and for
    /// the running closures of `spawn_blocking` to end, and joins all threads.
    ///
    /// A closure or a task that blocks its thread can't be stopped from outside. If it has not ended by the
    /// deadline, it continues, and the report names it. Hand-made wakers are called, and closures that have not begun
    /// are dropped, on threads of the runtime, for which the same holds; the report does not name wakers. Tasks spawned
    /// after the shutdown has begun are cancelled at once.
    ///
    /// On a thread of this runtime, `shutdown` does not wait, and the report is not clean.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = windlass::Runtime::new()?;
    /// let task = runtime.spawn(std::future::pending::<()>());
    /// let report = runtime.shutdown(Duration::from_secs(30));
    /// assert!(report.is_clean(), "{report}");
    /// assert!(windlass::block_on(task).unwrap_err().is_cancelled());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn shutdown(mut self, deadline: Duration) -> ShutdownReport {
        self.end(|pool, start| shutdown::finish(pool, start, deadline))
    }

    /// Shuts the runtime down and does not wait: cancels every task, and lets its threads end on their own. Can be called
    /// in a task of this runtime, too.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let task = runtime.spawn(std::future::pending::<()>());
    /// runtime.shutdown_background();
    /// assert!(windlass::block_on(task).unwrap_err().is_cancelled());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn shutdown_background(mut self) {
        let _ = self.end(shutdown::finish_in_background);
    }

    fn end(
        &mut self,
        finish: impl FnOnce(&Arc<Pool>, Instant) -> ShutdownReport,
    ) -> ShutdownReport {
        self.ended = true;
        let start = Instant::now();
        let pool = self.handle.pool();
        shutdown::begin(pool);
        if context::is_thread_of(pool) {
            pinned::forget(pool);
            companion::end(pool, Some(start));
            return ShutdownReport::unfinished(start.elapsed());
        }
        finish(pool, start)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.end(shutdown::finish_dropped);
        }
    }
}
