//! Runs two closures; another thread may take the second.

use std::marker::PhantomData;

use crate::registry::in_worker;
use crate::support;

/// Tells a closure of [`join_context`] whether it has moved to another thread.
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    // Tied to the call.
    not_send: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(migrated: bool) -> Self {
        Self { migrated, not_send: PhantomData }
    }

    /// Returns true if the closure is called on another thread than the one that called [`join_context`].
    #[inline]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Runs two closures, in parallel if a thread is free, and returns both results.
///
/// # Panics
///
/// Panics if a closure panics, once both have ended. If both do, the payload is that of the first.
///
/// # Examples
///
/// ```
/// let (a, b) = rayon_core::join(|| 1 + 1, || 2 + 2);
/// assert_eq!((a, b), (2, 4));
/// ```
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    match support::place() {
        Some(_) => windlass_runtime::join(a, b),
        None => in_worker(|_| windlass_runtime::join(a, b)),
    }
}

/// Like [`join`], with closures that learn whether they have moved to another thread.
///
/// # Panics
///
/// The same as for [`join`].
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    match support::place() {
        Some((index, _)) => on_worker(a, b, index, false),
        None => in_worker(|_| {
            let index = support::place().map_or(usize::MAX, |(index, _)| index);
            on_worker(a, b, index, true)
        }),
    }
}

#[inline]
fn on_worker<A, B, RA, RB>(a: A, b: B, index: usize, injected: bool) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    windlass_runtime::join(
        || a(FnContext::new(injected)),
        || {
            let here = support::place().is_some_and(|(here, _)| here == index);
            b(FnContext::new(injected || !here))
        },
    )
}
