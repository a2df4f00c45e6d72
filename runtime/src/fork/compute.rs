//! `compute`: from async code to fork-join.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::context;
use crate::task::{JoinHandle, Origin, boxed_if_large};

/// Runs a closure that computes, on the workers, and gives a handle to await its result. Inside,
/// [`join`](crate::join), [`scope`](crate::scope) and [`par`](crate::par) spread the work over the
/// pool.
///
/// The closure waits in a queue of its own, beside the tasks: it neither waits behind them all nor holds
/// them up, for a worker that computes looks after waiting tasks, at each `join` or by way of a spare
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
    let root = Root::new(f);
    boxed_if_large!(root => context::with_pool(|pool| pool.spawn_root(root, origin)))
}

/// A closure as a future that is ready at its first poll.
pub(crate) struct Root<F>(Option<F>);

// The closure is never pinned: it is moved out and called.
impl<F> Unpin for Root<F> {}

impl<F> Root<F> {
    pub(super) fn new(f: F) -> Self {
        Self(Some(f))
    }
}

impl<F: FnOnce() -> T, T> Future for Root<F> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<T> {
        let f = self.0.take().expect("a root is polled once");
        context::with_worker(|worker| {
            if let Some(worker) = worker {
                worker.begin_computing();
            }
        });
        Poll::Ready(f())
    }
}
