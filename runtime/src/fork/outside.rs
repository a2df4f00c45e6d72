//! Fork-join from threads that are no workers: in a guest's place, or if none is free, the call moves to a worker, and
//! the thread blocks.
//!
//! In that case the closure stays in the frame of the thread that waits, and a task on the pool has a pointer to
//! it. The thread leaves when the task says that it is done with the pointer, be it that it ran the
//! closure or that it was dropped unrun, because the pool is shutting down. In that case the thread
//! runs the closure itself.

use std::cell::UnsafeCell;
use std::panic::{self, AssertUnwindSafe, Location};
use std::thread;

use windlass_sync::Latch;

use super::compute::Root;
use super::guest::Guest;
use super::scope::Scope;
use crate::context::{self, Role};
use crate::primitives::Arc;
use crate::task::Origin;

/// `join` in a guest's place, on a worker of the current runtime, or else right here.
#[cold]
pub(super) fn join<A, B, RA, RB>(a: A, b: B, caller: &'static Location<'static>) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    match Guest::claim() {
        Some(guest) => guest.run(|worker| super::join::on_worker(worker, a, b)),
        None => {
            on_pool((a, b), |(a, b)| super::join(a, b), caller).unwrap_or_else(|(a, b)| here(a, b))
        }
    }
}

/// `scope` in a guest's place, on a worker of the current runtime, or else right here.
#[cold]
pub(super) fn scope<'scope, F, R>(f: F, caller: &'static Location<'static>) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    match Guest::claim() {
        Some(guest) => guest.run(|worker| Scope::new(Some(worker)).complete(Some(worker), f)),
        None => {
            on_pool(f, super::scope, caller).unwrap_or_else(|f| Scope::new(None).complete(None, f))
        }
    }
}

/// `scope` in a guest's place, or else without a pool.
#[cold]
pub(super) fn scope_in_place<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    match Guest::claim() {
        Some(guest) => guest.run(|worker| Scope::new(Some(worker)).complete(Some(worker), f)),
        None => Scope::new(None).complete(None, f),
    }
}

/// Both, one after the other, whatever the first one does.
fn here<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB,
{
    let a = panic::catch_unwind(AssertUnwindSafe(a));
    let b = panic::catch_unwind(AssertUnwindSafe(b));
    match (a, b) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(payload), _) | (_, Err(payload)) => panic::resume_unwind(payload),
    }
}

/// Runs `f` with `input` on a worker, and blocks until it is done; gives the input back if the pool
/// takes nothing in, or has no workers but the thread that drives it by hand, which may be this one. And on the
/// poller's thread: workers that are stuck rely on it, and it can't wait for them. A report on what does not end names the caller.
///
/// # Panics
///
/// If `f` does, with its payload.
pub(super) fn on_pool<I: Send, R: Send>(
    input: I,
    f: fn(I) -> R,
    caller: &'static Location<'static>,
) -> Result<R, I> {
    let by_hand = || context::with_pool(|pool| pool.poller().is_manual());
    if context::role() == Role::Poller || by_hand() {
        return Err(input);
    }
    let call = Call { input: UnsafeCell::new(Some(input)), result: UnsafeCell::new(None), f };
    let done = Arc::new(Latch::new(1));
    let waiting =
        Caller { call: &raw const call as *const (), run: run::<I, R>, done: done.clone() };
    let origin = Origin::new(caller, None);
    context::with_pool(|pool| {
        // Detached: the latch tells.
        drop(pool.spawn_root(Root::new(move || waiting.run()), origin));
    });
    done.wait_blocking();
    let Call { input, result, .. } = call;
    match (result.into_inner(), input.into_inner()) {
        (Some(Ok(result)), _) => Ok(result),
        (Some(Err(payload)), _) => panic::resume_unwind(payload),
        (None, Some(input)) => Err(input),
        (None, None) => unreachable!("a call that was taken up has a result"),
    }
}

/// What lies in the frame of the thread that waits.
struct Call<I, R> {
    input: UnsafeCell<Option<I>>,
    result: UnsafeCell<Option<thread::Result<R>>>,
    f: fn(I) -> R,
}

/// # Safety
///
/// `call` is a `Call<I, R>` that its thread keeps and does not touch meanwhile.
unsafe fn run<I, R>(call: *const ()) {
    // SAFETY: the caller says so.
    let Call { input, result, f } = unsafe { &*call.cast::<Call<I, R>>() };
    // SAFETY: as above; nobody else touches it.
    let taken = unsafe { (*input.get()).take() };
    if let Some(taken) = taken {
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| f(taken)));
        // SAFETY: as above.
        unsafe { *result.get() = Some(outcome) };
    }
}

/// The call as the pool sees it. Its drop ends the caller's wait.
struct Caller {
    call: *const (),
    run: unsafe fn(*const ()),
    done: Arc<Latch>,
}

// SAFETY: what it points to is `Send`, and waits for it.
unsafe impl Send for Caller {}

impl Caller {
    fn run(self) {
        // SAFETY: made by `on_pool`, which waits for our drop.
        unsafe { (self.run)(self.call) }
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        // The latch is ours too. What the closure has written is published by it.
        self.done.count_down();
    }
}
