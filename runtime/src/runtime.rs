//! The runtime: what is built, used and shut down.

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
/// Dropping it shuts it down as [`shutdown`](Self::shutdown) does, with a deadline of 5 seconds. A
/// runtime that is dropped by one of its own threads does not wait at all: its threads end by
/// themselves.
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
/// assert!(runtime.shutdown(Duration::from_secs(1)).is_clean());
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
    /// `InvalidInput` if `WINDLASS_WORKERS` makes no sense; the OS's error if a thread or the poller's
    /// descriptors are not to be had.
    pub fn new() -> std::io::Result<Runtime> {
        Builder::new().build()
    }

    pub(crate) fn of(pool: Arc<Pool>) -> Self {
        Self { handle: Handle::new(pool), ended: false }
    }

    /// Runs a future on the calling thread until it is done; see [`Handle::block_on`].
    ///
    /// # Panics
    ///
    /// On a worker thread.
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    /// Spawns a task; see [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Runs a closure that blocks; see [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.handle.spawn_blocking(f)
    }

    /// A reference to this runtime that can be cloned and sent anywhere.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Makes this runtime the current one of the calling thread; see [`Handle::enter`], also for the panics of
    /// the guard's drop.
    pub fn enter(&self) -> crate::EnterGuard<'static> {
        self.handle.enter()
    }

    /// What the runtime has done so far and what it does now.
    pub fn metrics(&self) -> Metrics {
        self.handle.metrics()
    }

    /// Shuts the runtime down: cancels every task, waits for their futures to be dropped and for
    /// the running closures of `spawn_blocking` to end, and joins all threads.
    ///
    /// What has not ended by the deadline goes on by itself and is named in the report: a closure
    /// or a task that blocks its thread can't be stopped from outside. Spawning fails from the first
    /// moment on, with a handle that says cancelled.
    ///
    /// On a thread of this runtime it waits for nothing, and the report is not clean.
    pub fn shutdown(mut self, deadline: Duration) -> ShutdownReport {
        self.end(|pool, start| shutdown::finish(pool, start, deadline))
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
