//! Sets of tasks: windlass's, with the methods that only tokio has.

use std::future::Future;
use std::task::{Context, Poll};

use super::{AbortHandle, Id, JoinError, LocalSet};
use crate::runtime::Handle;

#[derive(Debug)]
pub struct JoinSet<T> {
    inner: windlass::task::JoinSet<T>,
}

impl<T> JoinSet<T> {
    pub fn new() -> Self {
        Self { inner: windlass::task::JoinSet::new() }
    }

    pub fn len(&self) -> usize {
        self.inner.len()
    }

    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.inner.join_next().await
    }

    pub async fn join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        self.inner.join_next_with_id().await
    }

    pub fn poll_join_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T, JoinError>>> {
        self.inner.poll_join_next(cx)
    }

    pub fn try_join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.inner.try_join_next()
    }

    pub fn try_join_next_with_id(&mut self) -> Option<Result<(Id, T), JoinError>> {
        self.inner.try_join_next_with_id()
    }

    pub async fn join_all(self) -> Vec<T> {
        self.inner.join_all().await
    }

    pub fn abort_all(&mut self) {
        self.inner.abort_all();
    }

    pub async fn shutdown(&mut self) {
        self.inner.shutdown().await;
    }

    pub fn detach_all(&mut self) {
        self.inner.detach_all();
    }

    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
        T: 'static,
    {
        self.inner.spawn_local(future)
    }

    #[track_caller]
    pub fn spawn_local_on<F>(&mut self, _future: F, _set: &LocalSet) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
        T: 'static,
    {
        crate::missing("`JoinSet::spawn_local_on`")
    }
}

impl<T: Send + 'static> JoinSet<T> {
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
    {
        self.inner.spawn(future)
    }

    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
    {
        self.inner.spawn_on(future, handle.inner())
    }

    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
    {
        self.inner.spawn_blocking(f)
    }
}

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send + 'static, F> FromIterator<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
{
    fn from_iter<I: IntoIterator<Item = F>>(futures: I) -> Self {
        Self { inner: futures.into_iter().collect() }
    }
}

impl<T: Send + 'static, F> Extend<F> for JoinSet<T>
where
    F: Future<Output = T> + Send + 'static,
{
    fn extend<I: IntoIterator<Item = F>>(&mut self, futures: I) {
        for future in futures {
            self.spawn(future);
        }
    }
}
