//! A call on each thread of a pool.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::registry::Registry;
use crate::support;

/// Tells a closure of a broadcast which thread it is called on.
pub struct BroadcastContext<'a> {
    index: usize,
    threads: usize,
    // Tied to the call, and to its thread.
    not_send: PhantomData<&'a mut dyn Fn()>,
}

impl BroadcastContext<'_> {
    pub(crate) fn new(index: usize, threads: usize) -> Self {
        Self { index, threads, not_send: PhantomData }
    }

    /// Returns the index of this thread, as [`current_thread_index`](crate::current_thread_index) does.
    #[inline]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns how many threads the closure is called on.
    #[inline]
    pub fn num_threads(&self) -> usize {
        self.threads
    }
}

impl fmt::Debug for BroadcastContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadcastContext")
            .field("index", &self.index)
            .field("num_threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// Calls `op` on each thread of the current pool, and returns the results in the order of the threads' indices.
///
/// # Panics
///
/// Panics if a call panics, once all have ended.
///
/// # Examples
///
/// ```
/// let indices = rayon_core::broadcast(|context| context.index());
/// assert!(indices.into_iter().eq(0..rayon_core::current_num_threads()));
/// ```
pub fn broadcast<OP, R>(op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    broadcast_in(&Registry::current(), op)
}

/// Calls `op` on each thread of the current pool, without waiting for the calls. A panic is treated as in
/// [`spawn`](crate::spawn).
pub fn spawn_broadcast<OP>(op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    spawn_broadcast_in(&Registry::current(), op);
}

pub(crate) fn broadcast_in<OP, R>(registry: &Registry, op: OP) -> Vec<R>
where
    OP: Fn(BroadcastContext<'_>) -> R + Sync,
    R: Send,
{
    let threads = registry.handle().workers();
    registry.handle().broadcast(|index| op(BroadcastContext::new(index, threads)))
}

pub(crate) fn spawn_broadcast_in<OP>(registry: &Registry, op: OP)
where
    OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
{
    let (op, threads) = (Arc::new(op), registry.handle().workers());
    let call = |index| {
        let (op, own, keeper) = (op.clone(), registry.clone(), registry.keeper());
        move || {
            own.catch(|| op(BroadcastContext::new(index, threads)));
            drop((op, keeper));
        }
    };
    // SAFETY: they borrow nothing.
    unsafe { support::post_to_each(registry.handle(), call) };
}
