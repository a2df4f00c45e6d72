//! `compute`: from async code to fork-join.

use crate::blocking::Closure;
use crate::context;
use crate::handle::Handle;
use crate::primitives::Arc;
use crate::sched::Pool;
use crate::task::{JoinHandle, Origin, SiteId, boxed_if_large};

/// Runs a closure that computes on the workers, and returns a handle to await its result. Inside it,
/// [`join`](crate::join), [`scope`](crate::scope) and [`par`](crate::par) spread the work over the pool.
///
/// The closure waits in a separate queue, beside the tasks. It neither waits behind all of them nor holds them up,
/// because a worker that computes runs waiting tasks at each `join`, or leaves them to a spare worker. How a pool
/// divides its time between the two is [`compute_share`](crate::Builder::compute_share). For calls that *block*, use
/// [`spawn_blocking`](crate::spawn_blocking).
///
/// # Cancelling
///
/// Aborting the handle before the closure has begun drops the closure without running it, and so does shutting the
/// runtime down. A closure that has begun runs to its end. Dropping the handle has no effect.
///
/// # Panics
///
/// Panics outside of any runtime if the global one can't be started, because the OS refuses a thread or
/// `WINDLASS_WORKERS` is invalid. A panic of the closure is reported by its handle.
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
    let origin = Origin::caller();
    context::with_pool(|pool| spawn(pool, f, origin))
}

impl Handle {
    /// Runs a closure that computes on this runtime's workers, and returns a handle to await its result; see
    /// [`compute`](crate::compute()).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let sum = runtime.handle().compute(|| windlass::par::map_reduce(1..=100, |n| n, |a, b| a + b));
    /// assert_eq!(runtime.block_on(sum).unwrap(), Some(5050));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn compute<F, T>(&self, f: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        spawn(self.pool(), f, Origin::caller())
    }
}

fn spawn<F, T>(pool: &Arc<Pool>, f: F, origin: Origin) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    SiteId::of(origin.location, None).get().set_computes();
    let root = root(f);
    boxed_if_large!(root => pool.spawn_root(root, origin))
}

/// Returns the task of a computation. In its only poll, its worker begins to compute.
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
