//! A separate thread pool.

use std::fmt;
use std::sync::Arc;

use crate::broadcast::{self, BroadcastContext};
use crate::registry::{Keeper, Registry};
use crate::scope::{self, Scope, ScopeFifo};
use crate::{spawn, support};

/// A separate pool of threads: a windlass runtime that nothing else uses.
///
/// The runtime has one thread more than requested. It sleeps until a computation has lasted for a while, and then wakes
/// the threads that could help. There are no spares.
///
/// When the pool is dropped, its threads end as soon as all spawned jobs have run. The drop does not wait for them.
///
/// # Examples
///
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(2).build()?;
/// assert_eq!(pool.install(|| rayon_core::join(|| 1, || 2)), (1, 2));
/// # Ok::<(), rayon_core::ThreadPoolBuildError>(())
/// ```
pub struct ThreadPool {
    pub(crate) registry: Registry,
    _keeper: Arc<Keeper>,
}

impl ThreadPool {
    pub(crate) fn of(registry: Registry, keeper: Arc<Keeper>) -> Self {
        Self { registry, _keeper: keeper }
    }

    /// Builds a pool, the old way.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`ThreadPoolBuilder::build`](crate::ThreadPoolBuilder::build).
    #[deprecated(note = "Use `ThreadPoolBuilder::build`")]
    #[allow(deprecated, clippy::new_ret_no_self)]
    pub fn new(configuration: crate::Configuration) -> Result<Self, Box<dyn std::error::Error>> {
        configuration.into_builder().build().map_err(Box::from)
    }

    /// Runs a closure on a thread of this pool, and returns its result. Its calls of rayon use this pool.
    ///
    /// # Panics
    ///
    /// Panics if the closure panics.
    pub fn install<OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce() -> R + Send,
        R: Send,
    {
        self.registry.handle().install(op)
    }

    /// Calls `op` on each thread; see [`broadcast`](crate::broadcast).
    ///
    /// # Panics
    ///
    /// Panics if a call panics, once all have ended.
    pub fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        broadcast::broadcast_in(&self.registry, op)
    }

    /// Returns the number of threads.
    #[inline]
    pub fn current_num_threads(&self) -> usize {
        self.registry.handle().workers()
    }

    /// Returns the index of the current thread in this pool, if it belongs to it.
    #[inline]
    pub fn current_thread_index(&self) -> Option<usize> {
        self.here(crate::current_thread_index)
    }

    /// Returns true if the current thread has jobs that no thread has begun, or `None` if it does not belong to this
    /// pool.
    #[inline]
    pub fn current_thread_has_pending_tasks(&self) -> Option<bool> {
        self.here(support::has_pending)
    }

    /// Runs [`join`](crate::join) on this pool.
    ///
    /// # Panics
    ///
    /// The same as there.
    pub fn join<A, B, RA, RB>(&self, oper_a: A, oper_b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| crate::join(oper_a, oper_b))
    }

    /// Runs [`scope`](crate::scope()) on this pool.
    ///
    /// # Panics
    ///
    /// The same as there.
    pub fn scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| crate::scope(op))
    }

    /// Runs [`scope_fifo`](crate::scope_fifo) on this pool.
    ///
    /// # Panics
    ///
    /// The same as there.
    pub fn scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| crate::scope_fifo(op))
    }

    /// Like [`in_place_scope`](crate::in_place_scope), with jobs on this pool.
    ///
    /// # Panics
    ///
    /// The same as there.
    pub fn in_place_scope<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&Scope<'scope>) -> R,
    {
        scope::in_place_scope_in(self.registry.clone(), op)
    }

    /// Like [`in_place_scope_fifo`](crate::in_place_scope_fifo), with jobs on this pool.
    ///
    /// # Panics
    ///
    /// The same as there.
    pub fn in_place_scope_fifo<'scope, OP, R>(&self, op: OP) -> R
    where
        OP: FnOnce(&ScopeFifo<'scope>) -> R,
    {
        scope::in_place_scope_fifo_in(self.registry.clone(), op)
    }

    /// Spawns a job on this pool; see [`spawn`](crate::spawn()).
    pub fn spawn<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::spawn_in(&self.registry, op);
    }

    /// Spawns a job on this pool; see [`spawn_fifo`](crate::spawn_fifo).
    pub fn spawn_fifo<OP>(&self, op: OP)
    where
        OP: FnOnce() + Send + 'static,
    {
        spawn::spawn_fifo_in(&self.registry, op);
    }

    /// Spawns a job for each thread; see [`spawn_broadcast`](crate::spawn_broadcast).
    pub fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        broadcast::spawn_broadcast_in(&self.registry, op);
    }

    /// See [`yield_now`](crate::yield_now). Returns `None` if the current thread does not belong to this pool.
    pub fn yield_now(&self) -> Option<Yield> {
        self.here(crate::yield_now)
    }

    /// See [`yield_local`](crate::yield_local). Returns `None` if the current thread does not belong to this pool.
    pub fn yield_local(&self) -> Option<Yield> {
        self.here(crate::yield_local)
    }

    /// Calls `f` if the current thread belongs to this pool.
    fn here<R>(&self, f: impl FnOnce() -> Option<R>) -> Option<R> {
        if self.registry.handle().is_current() { f() } else { None }
    }
}

impl fmt::Debug for ThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("num_threads", &self.current_num_threads())
            .finish_non_exhaustive()
    }
}

/// The outcome of [`yield_now`](crate::yield_now) or [`yield_local`](crate::yield_local).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A job was run.
    Executed,
    /// There was none.
    Idle,
}

impl Yield {
    pub(crate) fn of(executed: bool) -> Self {
        if executed { Self::Executed } else { Self::Idle }
    }
}
