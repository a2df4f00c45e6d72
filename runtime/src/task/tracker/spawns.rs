//! The methods that spawn tasks that a [`TaskTracker`] tracks.

use std::future::Future;
use std::panic::Location;

use super::TaskTracker;
use crate::context;
use crate::handle::Handle;
use crate::task::{JoinHandle, Origin, boxed_if_large};

impl TaskTracker {
    /// Spawns a tracked task on the current runtime, or on the global one outside of any, as
    /// [`spawn`](crate::spawn) does.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let tracker = windlass::task::TaskTracker::new();
    /// assert_eq!(tracker.spawn(async { 7 }).await.unwrap(), 7);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let origin = Origin::new(Location::caller(), None);
        let future = self.track_future(future);
        boxed_if_large!(future => context::with_pool(|pool| pool.spawn(future, origin)))
    }

    /// Spawns a tracked task on the runtime of the handle.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let tracker = windlass::task::TaskTracker::new();
    /// tracker.spawn_on(async {}, runtime.handle());
    /// tracker.close();
    /// runtime.block_on(tracker.wait());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(&self, future: F, handle: &Handle) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let origin = Origin::new(Location::caller(), None);
        let future = self.track_future(future);
        boxed_if_large!(future => handle.pool().spawn(future, origin))
    }

    /// Runs a tracked closure that blocks, as [`spawn_blocking`](crate::spawn_blocking) does.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let tracker = windlass::task::TaskTracker::new();
    /// tracker.spawn_blocking(|| std::fs::read("Cargo.toml"));
    /// tracker.close();
    /// tracker.wait().await;
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        crate::spawn_blocking(self.track_closure(f))
    }

    /// Runs a tracked closure that blocks on the blocking pool of the handle's runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let tracker = windlass::task::TaskTracker::new();
    /// tracker.spawn_blocking_on(|| std::fs::read("Cargo.toml"), runtime.handle());
    /// tracker.close();
    /// runtime.block_on(tracker.wait());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F, T>(&self, f: F, handle: &Handle) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        handle.spawn_blocking(self.track_closure(f))
    }

    /// Spawns a tracked task that stays on this thread and need not be `Send`; see
    /// [`task::spawn_local`](crate::task::spawn_local).
    ///
    /// # Panics
    ///
    /// Panics outside of a `block_on`, and in tasks that may change threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// # windlass::block_on(async {
    /// let shared = Rc::new(42); // not `Send`
    /// let tracker = windlass::task::TaskTracker::new();
    /// tracker.spawn_local(async move { println!("{shared}") });
    /// tracker.close();
    /// tracker.wait().await;
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        crate::local::spawn_local(self.track_future(future))
    }

    fn track_closure<F, T>(&self, f: F) -> impl FnOnce() -> T + use<F, T>
    where
        F: FnOnce() -> T,
    {
        let token = self.token();
        move || {
            let result = f();
            drop(token);
            result
        }
    }
}
