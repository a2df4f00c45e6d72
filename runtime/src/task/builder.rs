//! Spawning a task with a name.

use std::future::Future;
use std::panic::Location;

use super::{JoinHandle, Origin, boxed_if_large};
use crate::blocking;
use crate::context;
use crate::handle::Handle;

/// Spawns tasks with a name, which appears in shutdown reports and hooks.
///
/// # Examples
///
/// ```
/// let sum = windlass::block_on(async {
///     let task = windlass::task::Builder::new().name("adder").spawn(async { 1 + 2 });
///     task.await.unwrap()
/// });
/// assert_eq!(sum, 3);
/// ```
#[derive(Debug, Default, Clone)]
#[must_use = "a task builder does nothing until it spawns"]
pub struct Builder {
    name: Option<String>,
}

impl Builder {
    /// Returns a builder for a task without a name.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// assert_eq!(windlass::task::Builder::new().spawn(async { 7 }).await.unwrap(), 7);
    /// # });
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the task's name. An empty one counts as none.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::task::Builder::new().name("session").spawn(async {});
    /// # task.await.unwrap();
    /// # });
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Spawns the task on the current runtime, or on the global one outside of any, as [`spawn`](crate::spawn) does.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::task::Builder::new().name("answer").spawn(async { 42 });
    /// assert_eq!(task.await.unwrap(), 42);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let origin = self.origin();
        boxed_if_large!(future => context::with_pool(|pool| pool.spawn(future, origin)))
    }

    /// Spawns the task on the runtime of the handle.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::task;
    ///
    /// let runtime = windlass::Runtime::new()?;
    /// let task = task::Builder::new().name("answer").spawn_on(async { 42 }, runtime.handle());
    /// assert_eq!(runtime.block_on(task).unwrap(), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let origin = self.origin();
        boxed_if_large!(future => handle.pool().spawn(future, origin))
    }

    /// Runs a closure that blocks on the blocking pool, as [`spawn_blocking`](crate::spawn_blocking) does.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::task::Builder::new().name("sum").spawn_blocking(|| 1 + 1);
    /// assert_eq!(task.await.unwrap(), 2);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let origin = self.origin();
        context::with_pool(|pool| blocking::spawn(pool, f, origin))
    }

    #[track_caller]
    fn origin(self) -> Origin {
        Origin::new(Location::caller(), self.name)
    }
}
