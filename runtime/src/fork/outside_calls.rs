//! Fork-join calls of threads that are not workers: in a guest's slot, or if none is free, on a worker
//! while the thread blocks.
//!
//! In the second case the closure stays in the frame of the thread that waits, and a task on the pool has a pointer to
//! it. The thread continues when the task is done with the pointer: either it has run the closure, or it was dropped
//! without running it because the pool is shutting down. Then the thread runs the closure itself.

use std::panic::{self, AssertUnwindSafe, Location};
use std::thread;

use windlass_sync::Latch;

use super::compute::root;
use super::guest::Guest;
use super::scope::Scope;
use crate::context::{self, Role};
use crate::primitives::Arc;
use crate::sched::Pool;
use crate::task::Origin;

/// Runs a `join` in a guest's slot, on a worker of the current runtime, or else on the current thread alone.
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

/// Runs a `scope` in a guest's slot, on a worker of the current runtime, or else on the current thread alone.
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

/// Runs a `scope` in a guest's slot, or else with its jobs on the workers of the current runtime.
#[cold]
pub(super) fn scope_in_place<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    match Guest::claim() {
        Some(guest) => guest.run(|worker| Scope::new(Some(worker)).complete(Some(worker), f)),
        None => match serving_pool() {
            Some(pool) => Scope::complete_outside(&pool, f),
            None => Scope::new(None).complete(None, f),
        },
    }
}

/// Calls both, one after the other, even if the first panics.
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

/// Returns the pool of the current runtime, if this thread may wait for its workers. It may not for those of a manual
/// loop, whose only thread this may be, nor for those of a runtime that is shutting down. The poller's thread waits for
/// none: workers that are stuck rely on it.
fn serving_pool() -> Option<Arc<Pool>> {
    if context::role() == Role::Poller {
        return None;
    }
    let serves = |pool: &Arc<Pool>| !pool.poller().is_manual() && !pool.is_closing();
    context::with_pool(|pool| serves(pool).then(|| pool.clone()))
}

/// Runs `f` with `input` on a worker, and blocks until it is done. A report on tasks that do not end names the caller.
///
/// Returns the input if the pool is shutting down, or has no workers that this thread may wait for.
///
/// # Panics
///
/// Panics with the payload of `f` if it panics.
pub(super) fn on_pool<I: Send, R: Send>(
    input: I,
    f: fn(I) -> R,
    caller: &'static Location<'static>,
) -> Result<R, I> {
    if serving_pool().is_none() {
        return Err(input);
    }
    let done = Arc::new(Latch::new(1));
    let mut call = Call { input: Some(input), result: None };
    let frame = FramePtr(&raw mut call);
    let end = CountDownOnDrop(done.clone());
    let job: Box<dyn FnOnce() + Send + '_> = Box::new(move || {
        // Before the end of the job, and also if it is dropped without being run.
        let _end = end;
        let FramePtr(call) = { frame };
        // SAFETY: the caller keeps its frame, and does not touch it, until `end` is dropped.
        let call = unsafe { &mut *call };
        let input = call.input.take().expect("a job is run once");
        call.result = Some(panic::catch_unwind(AssertUnwindSafe(|| f(input))));
    });
    // SAFETY: what it borrows is there until it is dropped, which we wait for.
    let job: Box<dyn FnOnce() + Send> = unsafe { std::mem::transmute(job) };
    let origin = Origin::new(caller, None);
    context::with_pool(|pool| {
        // Detached, because the latch tells when it is done.
        drop(pool.spawn_root(root(job), origin));
    });
    done.wait_blocking();
    match (call.result, call.input) {
        (Some(Ok(result)), _) => Ok(result),
        (Some(Err(payload)), _) => panic::resume_unwind(payload),
        (None, Some(input)) => Err(input),
        (None, None) => unreachable!("a call that was taken up has a result"),
    }
}

/// The part of a call that lies in the frame of the thread that waits.
struct Call<I, R> {
    input: Option<I>,
    result: Option<thread::Result<R>>,
}

/// A pointer into the frame of the thread that waits.
struct FramePtr<I, R>(*mut Call<I, R>);

// SAFETY: what it points to is `Send`, and its thread leaves it alone.
unsafe impl<I: Send, R: Send> Send for FramePtr<I, R> {}

/// Ends the caller's wait. Its latch publishes what the closure has written.
struct CountDownOnDrop(Arc<Latch>);

impl Drop for CountDownOnDrop {
    fn drop(&mut self) {
        self.0.count_down();
    }
}
