//! `compute`: from async code to fork-join.

use std::panic::Location;

use crate::blocking::Closure;
use crate::context;
use crate::task::{JoinHandle, Origin, SiteId, boxed_if_large};

/// Runs a closure that computes, on the workers, and returns a handle to await its result. Inside,
/// [`join`](crate::join), [`scope`](crate::scope) and [`par`](crate::par) spread the work over the
/// pool.
///
/// The closure waits in a queue of its own, beside the tasks: it neither waits behind them all nor holds
/// them up, because a worker that computes runs waiting tasks at each `join`, or leaves them to a spare
/// worker. How a pool divides its time between the two is
/// [`compute_share`](crate::Builder::compute_share). For calls that *block*, use
/// [`spawn_blocking`](crate::spawn_blocking).
///
/// # Cancelling
///
/// Aborting the handle before the closure has begun drops it unrun, and so does shutting the runtime
/// down. One that has begun runs to its end. Dropping the handle changes nothing.
///
/// # Panics
///
/// Outside of any runtime, if the global one can't be started: no thread to be had, or a bad
/// `WINDLASS_WORKERS`.
/// A panic of the closure is reported by its handle.
///
/// # Examples
///
/// ```
/// # windlass::block_on(async {
/// let mut numbers: Vec<u32> = (0..100_000).rev().collect();
/// let sorted = windlass::compute(move || {
///     windlass::par::sort_unstable(&mut numbers);
///     numbers
/// });
/// assert!(sorted.await.unwrap().is_sorted());
/// # });
/// ```
#[track_caller]
pub fn compute<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let origin = Origin::new(Location::caller(), None);
    SiteId::of(origin.location, None).get().set_computes();
    let root = root(f);
    boxed_if_large!(root => context::with_pool(|pool| pool.spawn_root(root, origin)))
}

/// Returns the task of a computation: at its only poll, its worker begins to compute.
pub(super) fn root<F, T>(f: F) -> Closure<impl FnOnce() -> T>
where
    F: FnOnce() -> T,
{
    Closure(Some(move || {
        context::with_worker(|worker| {
            if let Some(worker) = worker {
                worker.begin_computing();
            }
        });
        f()
    }))
}
