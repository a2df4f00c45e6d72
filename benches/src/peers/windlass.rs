//! windlass, as built by its default settings but for the number of workers.

use ::windlass::task::JoinHandle;
use ::windlass::{Builder, Runtime};

use super::{Joined, Peer, SizedPeer, WORKERS};

/// A runtime of its own, not the global one, so that it can be stopped.
pub(crate) struct Runs<const OBSERVED: bool>(Runtime);

/// As by default.
pub(crate) type Windlass = Runs<true>;

/// The same without observation, to see what that costs.
pub(crate) type Unobserved = Runs<false>;

impl<const OBSERVED: bool> Peer for Runs<OBSERVED> {
    const NAME: &'static str = if OBSERVED { "windlass" } else { "windlass-unobserved" };
    type Join<T: Send + 'static> = Joined<JoinHandle<T>>;

    fn start() -> Self {
        Self::with_workers(WORKERS)
    }

    #[inline]
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    #[inline]
    fn spawn_from_outside<F>(&self, future: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Joined(self.0.spawn(future))
    }

    #[inline]
    fn spawn<F>(future: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Joined(::windlass::spawn(future))
    }

    #[inline]
    fn detach<F>(future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(::windlass::spawn(future));
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        ::windlass::yield_now()
    }
}

impl<const OBSERVED: bool> SizedPeer for Runs<OBSERVED> {
    fn with_workers(workers: usize) -> Self {
        let builder = Builder::new().workers(workers).observe(OBSERVED);
        Self(builder.build().expect("windlass starts"))
    }
}
