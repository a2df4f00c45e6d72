//! Any number of jobs that borrow from their surroundings.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::broadcast::BroadcastContext;
use crate::registry::{Registry, in_worker};
use crate::scope_base::ScopeBase;
use crate::spawn::Fifo;
use crate::support;

/// Spawns jobs that [`scope`] waits for. A thread runs the newest of its jobs first.
pub struct Scope<'scope> {
    base: ScopeBase<'scope>,
}

/// Spawns jobs that [`scope_fifo`] waits for. A thread runs the oldest of its jobs first.
pub struct ScopeFifo<'scope> {
    base: ScopeBase<'scope>,
    /// By the index of the spawning thread.
    fifos: Mutex<HashMap<usize, Fifo<'scope>>>,
}

/// Runs a closure on a thread of the current pool, and returns when it and all jobs that it has spawned have ended. The
/// jobs may borrow anything that outlives the scope, and may spawn further jobs.
///
/// # Panics
///
/// Panics with the first payload if the closure or a job panics, once all have ended.
///
/// # Examples
///
/// ```
/// let mut squares = [0; 4];
/// rayon_core::scope(|s| {
///     for (i, square) in squares.iter_mut().enumerate() {
///         s.spawn(move |_| *square = i * i);
///     }
/// });
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
pub fn scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    in_worker(|_| in_place_scope(op))
}

/// Like [`scope`], but a thread runs the oldest of its jobs first.
///
/// # Panics
///
/// The same as for [`scope`].
pub fn scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R + Send,
    R: Send,
{
    in_worker(|_| in_place_scope_fifo(op))
}

/// Like [`scope`], with a closure that runs on the calling thread. The jobs run on the current pool.
///
/// # Panics
///
/// The same as for [`scope`].
pub fn in_place_scope<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    in_place_scope_in(Registry::current(), op)
}

/// Like [`scope_fifo`], with a closure that runs on the calling thread. The jobs run on the current pool.
///
/// # Panics
///
/// The same as for [`scope`].
pub fn in_place_scope_fifo<'scope, OP, R>(op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    in_place_scope_fifo_in(Registry::current(), op)
}

pub(crate) fn in_place_scope_in<'scope, OP, R>(registry: Registry, op: OP) -> R
where
    OP: FnOnce(&Scope<'scope>) -> R,
{
    let scope = Scope { base: ScopeBase::new(registry) };
    scope.base.complete(|| op(&scope))
}

pub(crate) fn in_place_scope_fifo_in<'scope, OP, R>(registry: Registry, op: OP) -> R
where
    OP: FnOnce(&ScopeFifo<'scope>) -> R,
{
    let scope = ScopeFifo { base: ScopeBase::new(registry), fifos: Mutex::default() };
    scope.base.complete(|| op(&scope))
}

/// A pointer to a scope, for the jobs that it waits for.
struct Waiting<S>(*const S);

// SAFETY: both kinds of scopes are `Sync`.
unsafe impl<S: Sync> Send for Waiting<S> {}

impl<S> Waiting<S> {
    /// # Safety
    ///
    /// Only a job of the scope may call this, because the scope waits for it.
    unsafe fn get<'a>(self) -> &'a S {
        // SAFETY: the caller guarantees it.
        unsafe { &*self.0 }
    }
}

impl<'scope> Scope<'scope> {
    /// Spawns a job, from any thread.
    pub fn spawn<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        let scope = Waiting(self);
        // SAFETY: the body borrows for `'scope`, and the scope waits for it.
        unsafe { self.base.spawn(move || body(scope.get())) };
    }

    /// Spawns a job for each thread of the pool.
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let (body, threads) = (std::sync::Arc::new(body), self.base.registry().handle().workers());
        let call = |index| {
            let (body, scope) = (body.clone(), Waiting(self));
            // SAFETY: this is a job of the scope.
            move || body(unsafe { scope.get() }, BroadcastContext::new(index, threads))
        };
        // SAFETY: as in `spawn`.
        unsafe { self.base.spawn_on_each(call) };
    }
}

impl<'scope> ScopeFifo<'scope> {
    /// Spawns a job, from any thread.
    pub fn spawn_fifo<BODY>(&self, body: BODY)
    where
        BODY: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
    {
        let scope = Waiting(self);
        // SAFETY: this is a job of the scope.
        let job = move || body(unsafe { scope.get() });
        let own = self.base.registry().handle().is_current().then(support::place).flatten();
        let Some((index, _)) = own else {
            // Jobs that come from outside are run in order. SAFETY: the body borrows for `'scope`, and the scope waits
            // for it.
            return unsafe { self.base.spawn(job) };
        };
        let mut fifos = self.fifos.lock().unwrap_or_else(PoisonError::into_inner);
        let fifo = fifos.entry(index).or_default().clone();
        drop(fifos);
        fifo.push(Box::new(job));
        // SAFETY: as above.
        unsafe { self.base.spawn(move || fifo.run_oldest()) };
    }

    /// Spawns a job for each thread of the pool.
    pub fn spawn_broadcast<BODY>(&self, body: BODY)
    where
        BODY: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let (body, threads) = (std::sync::Arc::new(body), self.base.registry().handle().workers());
        let call = |index| {
            let (body, scope) = (body.clone(), Waiting(self));
            // SAFETY: this is a job of the scope.
            move || body(unsafe { scope.get() }, BroadcastContext::new(index, threads))
        };
        // SAFETY: as in `spawn_fifo`.
        unsafe { self.base.spawn_on_each(call) };
    }
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl fmt::Debug for ScopeFifo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFifo").finish_non_exhaustive()
    }
}
