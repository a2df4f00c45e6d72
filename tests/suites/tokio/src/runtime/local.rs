//! Runtimes of which all tasks stay on one thread.
//!
//! The nearest that windlass has is `spawn_local` inside of a `block_on`.

use std::future::Future;
use std::marker::PhantomData;
use std::time::Duration;

use super::{Builder, EnterGuard, Handle, Runtime};
use crate::task::JoinHandle;

#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LocalOptions {}

#[derive(Debug)]
pub struct LocalRuntime {
    inner: Runtime,
    not_send: PhantomData<*mut ()>,
}

impl LocalRuntime {
    pub fn new() -> std::io::Result<Self> {
        Builder::new_current_thread().enable_all().build_local(LocalOptions::default())
    }

    pub(super) fn of(inner: Runtime) -> Self {
        Self { inner, not_send: PhantomData }
    }

    pub fn handle(&self) -> &Handle {
        self.inner.handle()
    }

    #[track_caller]
    pub fn spawn_local<F>(&self, _future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        crate::missing("`LocalRuntime::spawn_local` outside of `block_on`")
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

    pub fn enter(&self) -> EnterGuard<'_> {
        self.inner.enter()
    }

    pub fn shutdown_timeout(self, duration: Duration) {
        self.inner.shutdown_timeout(duration);
    }

    pub fn shutdown_background(self) {
        self.inner.shutdown_background();
    }
}
