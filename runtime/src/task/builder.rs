//! Spawning a task with a name.

use std::future::Future;
use std::panic::Location;

use super::{JoinHandle, Origin, boxed_if_large};
use crate::blocking;
use crate::context;
use crate::handle::Handle;

/// Spawns tasks that carry a name, which shutdown reports and debuggers show.
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
    /// A builder for a task without a name.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the task.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Spawns on the current runtime, or on the global one outside of any; as
    /// [`spawn`](crate::spawn).
    #[track_caller]
    pub fn spawn<F>(self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let origin = self.origin(Location::caller());
        boxed_if_large!(future => context::spawn(future, origin))
    }

    /// Spawns on the runtime of the handle.
    #[track_caller]
    pub fn spawn_on<F>(self, future: F, handle: &Handle) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let origin = self.origin(Location::caller());
        boxed_if_large!(future => handle.pool().spawn(future, origin))
    }

    /// Runs a closure that blocks on the blocking pool; as
    /// [`spawn_blocking`](crate::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, T>(self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let origin = self.origin(Location::caller());
        context::with_pool(|pool| blocking::spawn(pool, f, origin))
    }

    fn origin(self, location: &'static Location<'static>) -> Origin {
        Origin::new(location, self.name)
    }
}
