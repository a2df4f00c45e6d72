//! smol with its global executor, which is how its documentation tells users to run it.
//!
//! `SMOL_THREADS`, set by `main`, gives it as many threads as the other peers have workers. It
//! cannot be stopped; the start-up workload therefore builds an executor of its own.

use ::smol::Task;

use super::Peer;

/// The global executor.
pub(crate) struct Smol;

impl Peer for Smol {
    const NAME: &'static str = "smol";
    type Join<T: Send + 'static> = Task<T>;

    fn start() -> Self {
        // The first spawn starts the threads.
        ::smol::block_on(::smol::spawn(async {}));
        Smol
    }

    #[inline]
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        ::smol::block_on(future)
    }

    #[inline]
    fn spawn_from_outside<F>(&self, future: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        ::smol::spawn(future)
    }

    #[inline]
    fn spawn<F>(future: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        ::smol::spawn(future)
    }

    #[inline]
    fn detach<F>(future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        ::smol::spawn(future).detach();
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        ::smol::future::yield_now()
    }
}
