//! Runtimes and their handles.
//!
//! windlass has no current-thread flavour. A runtime of that flavour is one with a single worker, as the crate's page
//! advises people who come from tokio.

mod builder;
mod local;
mod metrics;

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;

pub use builder::{Builder, UnhandledPanic};
pub use local::{LocalOptions, LocalRuntime};
pub use metrics::RuntimeMetrics;
pub use windlass::worker_index;

use crate::task::JoinHandle;

#[derive(Debug)]
pub struct Runtime {
    /// `None` once it is shut down.
    inner: Option<windlass::Runtime>,
    handle: Handle,
}

impl Runtime {
    pub fn new() -> std::io::Result<Self> {
        Builder::new_multi_thread().enable_all().build()
    }

    fn of(inner: windlass::Runtime) -> Self {
        let handle = Handle { inner: inner.handle().clone() };
        Self { inner: Some(inner), handle }
    }

    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.handle.spawn_blocking(f)
    }

    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }

    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    pub fn shutdown_timeout(mut self, duration: Duration) {
        if let Some(inner) = self.inner.take() {
            let _report = inner.shutdown(duration);
        }
    }

    pub fn shutdown_background(self) {
        self.shutdown_timeout(Duration::ZERO);
    }
}

#[derive(Debug, Clone)]
pub struct Handle {
    inner: windlass::Handle,
}

impl Handle {
    #[track_caller]
    pub fn current() -> Self {
        Self { inner: windlass::Handle::current() }
    }

    pub fn try_current() -> Result<Self, TryCurrentError> {
        windlass::Handle::try_current().map(|inner| Self { inner }).ok_or(TryCurrentError(()))
    }

    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard { _inner: self.inner.enter(), runtime: PhantomData }
    }

    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.inner.spawn(future)
    }

    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        self.inner.spawn_blocking(f)
    }

    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.inner.block_on(future)
    }

    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::of(self.inner.clone())
    }

    #[track_caller]
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        crate::missing("`Handle::runtime_flavor`: there is one flavour")
    }

    #[track_caller]
    pub fn id(&self) -> Id {
        crate::missing("`Handle::id`")
    }

    #[track_caller]
    pub fn name(&self) -> Option<&str> {
        Some(self.inner.thread_name())
    }

    /// The handle of windlass, for what else is spawned.
    pub(crate) fn inner(&self) -> &windlass::Handle {
        &self.inner
    }
}

#[derive(Debug)]
pub struct EnterGuard<'a> {
    _inner: windlass::EnterGuard<'static>,
    runtime: PhantomData<&'a ()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    CurrentThread,
    MultiThread,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id(u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[derive(Debug)]
pub struct TryCurrentError(());

impl TryCurrentError {
    pub fn is_missing_context(&self) -> bool {
        true
    }

    pub fn is_thread_local_destroyed(&self) -> bool {
        false
    }
}

impl fmt::Display for TryCurrentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no current runtime")
    }
}

impl std::error::Error for TryCurrentError {}

/// Returns true if an operation failed because its runtime has been shut down.
pub fn is_rt_shutdown_err(error: &std::io::Error) -> bool {
    windlass::is_shutdown_error(error)
}
