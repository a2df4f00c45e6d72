//! `join`: two closures, the second of which a thief may take.

use std::mem;
use std::panic::{self, AssertUnwindSafe, Location};

use super::job::StackJob;
use super::outside_calls;
use crate::context;
use crate::sched::Worker;
use crate::task::quietly;

/// Runs two closures, in parallel if a worker is free, and returns both results.
///
/// On a worker it costs a few nanoseconds if nobody takes the second closure: it is noted in a list, `a` runs, and then
/// `b`. Idle workers take the oldest noted closure of a worker, so both fine and coarse recursions spread well. On a
/// worker, the call uses that worker's runtime, even if another runtime has been entered.
///
/// Elsewhere (in [`block_on`](crate::block_on), in [`spawn_blocking`](crate::spawn_blocking), on a thread of your own)
/// the caller takes part: the closures run on its own thread and stack, and workers of the current runtime, or of the
/// global one, take what is pending. While it waits for them the thread runs nothing but its own closures. A runtime
/// has places for as many such callers as it has workers, but at least four and at most 32. If all are taken, the pair
/// moves to a worker, and the thread blocks until both closures are done.
///
/// # In async code
///
/// A `join` in a task holds its worker until both closures are done. The worker looks after other tasks meanwhile: at
/// calls of `join` it polls ready tasks in place, for the share of time that
/// [`compute_share`](crate::Builder::compute_share) leaves them. To wait for a computation without blocking the task,
/// use [`compute`](crate::compute).
///
/// # The current runtime
///
/// A computation may have [entered](crate::Handle::enter) another runtime. This affects its own thread only. In a
/// closure that another worker takes, in a job of a [`scope`](crate::scope) and in tasks that are polled in place, the
/// current runtime is that of the worker. So what `b` finds depends on the thread that runs it; where that matters,
/// enter the runtime in the closure.
///
/// # Locks, and calls that block
///
/// While `join` runs, the same thread may run other jobs and poll other tasks. **Don't hold a lock across it that any
/// of them takes**: the thread would wait for itself, for ever. One closure must not wait for the other to do something
/// either, because one thread may run both.
///
/// A closure that blocks (on a file, say) holds its worker, like a task that blocks. Tasks continue on a spare worker,
/// and so does fork-join work that other workers have or take. What is in the blocked worker's own list, its part of
/// the same computation, waits for it. So do computations that nobody has begun, if all workers compute or block in
/// such closures.
///
/// # Depth
///
/// Calls nest on the thread's stack. Each takes its closures and some 200 bytes (1 KiB or more without optimisation),
/// besides what the closures themselves need; a pending `join` also takes 8 bytes of heap. With
/// [`stack_size`](crate::Builder::stack_size) of 64 MiB (512 MiB without optimisation) 100,000 levels fit on a worker;
/// use [`compute`](crate::compute) to get there. A worker that waits for a stolen closure may run another one on top of
/// its stack, which may have to wait in turn. Leave room for some levels of that, about as many as there are workers.
///
/// # Panics
///
/// Panics if a closure panics, but not before both have ended: the other one is run or awaited first. If both panic,
/// `a`'s panic is passed on. Also panics outside of any runtime if the global one can't be started.
///
/// If `a` panics, `b` and other jobs may run on its thread before the panic is passed on; in them
/// [`std::thread::panicking`] is true. Tasks are not polled there meanwhile.
///
/// # Examples
///
/// ```
/// fn sum(numbers: &[u64]) -> u64 {
///     if numbers.len() < 512 {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (left, right) = windlass::join(|| sum(left), || sum(right));
///     left + right
/// }
/// let numbers: Vec<u64> = (0..10_000).collect();
/// assert_eq!(sum(&numbers), 49_995_000);
/// ```
#[inline]
#[track_caller]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let caller = Location::caller();
    context::with_forker(|worker| match worker {
        Some(worker) => on_worker(worker, a, b),
        None => outside_calls::join(a, b, caller),
    })
}

/// Runs a `join` on the current worker. It is not inlined, so that `join` is little more than a call, and knows its
/// caller at no cost.
#[inline(never)]
pub(super) fn on_worker<A, B, RA, RB>(worker: &Worker, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB,
{
    let job = StackJob::new(b);
    let index = worker.pending.push(job.as_job());
    if worker.pending.count_down() {
        worker.attend();
    }
    let end = EndOnUnwind { worker, job: &job, index };
    let a = a();
    mem::forget(end);
    if worker.pending.pop(index) {
        // SAFETY: nobody else knows of a private job.
        let b = unsafe { job.take_closure() };
        return (a, b());
    }
    let b = come_back(worker, &job, index).unwrap_or_else(|payload| panic::resume_unwind(payload));
    (a, b)
}

/// Returns the result of a job that was offered: takes it back and runs it here, or waits for it.
#[cold]
#[inline(never)]
fn come_back<B, RB>(worker: &Worker, job: &StackJob<B, RB>, index: usize) -> std::thread::Result<RB>
where
    B: FnOnce() -> RB,
{
    let result = if worker.pending.take_back(job.as_job(), index) {
        worker.computation.offering.count_crumb();
        // SAFETY: taken out of the offer.
        let b = unsafe { job.take_closure() };
        panic::catch_unwind(AssertUnwindSafe(b))
    } else {
        worker.wait_for(|| job.latch().is_set());
        // SAFETY: the latch is set, and nobody else takes the result.
        unsafe { job.take_result() }
    };
    if index == 0 {
        worker.leave_joins();
    }
    result
}

/// Ends `b` when `a` panics.
struct EndOnUnwind<'a, B: FnOnce() -> RB, RB> {
    worker: &'a Worker,
    job: &'a StackJob<B, RB>,
    index: usize,
}

impl<B: FnOnce() -> RB, RB> Drop for EndOnUnwind<'_, B, RB> {
    #[cold]
    fn drop(&mut self) {
        let Self { worker, job, index } = *self;
        // The panic of `a` goes on; that of `b`, and of what drops its result, ends here.
        quietly(|| {
            if worker.pending.pop(index) {
                // SAFETY: nobody else knows of a private job.
                drop(unsafe { job.take_closure() }());
            } else {
                drop(come_back(worker, job, index));
            }
        });
    }
}
