//! The methods that spawn tasks into a [`JoinSet`].

use std::future::Future;
use std::panic::Location;

use super::JoinSet;
use crate::blocking;
use crate::context;
use crate::handle::Handle;
use crate::task::{AbortHandle, Origin, boxed_if_large};

impl<T: Send + 'static> JoinSet<T> {
    /// Spawns a task into the set, on the current runtime or else on the global one.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// for i in 0..3 {
    ///     set.spawn(async move { i });
    /// }
    /// let mut results = set.join_all().await;
    /// results.sort();
    /// assert_eq!(results, [0, 1, 2]);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
    {
        let origin = Origin::new(Location::caller(), None);
        let handle =
            boxed_if_large!(future => context::with_pool(|pool| pool.spawn(future, origin)));
        self.insert(handle)
    }

    /// Spawns a task into the set, on the runtime of the handle.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn_on(async { 42 }, runtime.handle());
    /// assert_eq!(runtime.block_on(set.join_all()), [42]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn_on<F>(&mut self, future: F, handle: &Handle) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
    {
        let origin = Origin::new(Location::caller(), None);
        let handle = boxed_if_large!(future => handle.pool().spawn(future, origin));
        self.insert(handle)
    }

    /// Runs a closure that blocks on the blocking pool, as a member of the set.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn_blocking(|| 42);
    /// assert_eq!(set.join_all().await, [42]);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
    {
        let origin = Origin::new(Location::caller(), None);
        let handle = context::with_pool(|pool| blocking::spawn(pool, f, origin));
        self.insert(handle)
    }
    /// Runs a closure that blocks on the blocking pool of the handle's runtime, as a member of the set.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn_blocking_on(|| 42, runtime.handle());
    /// assert_eq!(runtime.block_on(set.join_all()), [42]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking_on<F>(&mut self, f: F, handle: &Handle) -> AbortHandle
    where
        F: FnOnce() -> T + Send + 'static,
    {
        let origin = Origin::new(Location::caller(), None);
        self.insert(blocking::spawn(handle.pool(), f, origin))
    }

    /// Spawns a task into the set that stays on one thread of the runtime and need not be `Send`; see
    /// [`task::spawn_pinned`](crate::task::spawn_pinned).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// # windlass::block_on(async {
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn_pinned(|| async { *Rc::new(42) }); // not `Send`
    /// assert_eq!(set.join_all().await, [42]);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_pinned<F, Fut>(&mut self, f: F) -> AbortHandle
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = T> + 'static,
    {
        let handle = crate::local::spawn_pinned(f);
        self.insert(handle)
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task into the set that stays on this thread and need not be `Send`; see
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
    /// let mut set = windlass::task::JoinSet::new();
    /// set.spawn_local(async move { *shared });
    /// assert_eq!(set.join_all().await, [42]);
    /// # });
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&mut self, future: F) -> AbortHandle
    where
        F: Future<Output = T> + 'static,
    {
        let handle = crate::local::spawn_local(future);
        self.insert(handle)
    }
}
