//! windlass, as built by its default settings but for the number of workers.

use ::windlass::task::JoinHandle;
use ::windlass::{Builder, Runtime};

use super::{Joined, Peer, SizedPeer, WORKERS};

/// A runtime of its own, not the global one, so that it can be stopped.
pub(crate) struct Windlass(Runtime);

impl Peer for Windlass {
    const NAME: &'static str = "windlass";
    type Join<T: Send + 'static> = Joined<JoinHandle<T>>;

    fn start() -> Self {
        Windlass::with_workers(WORKERS)
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

impl SizedPeer for Windlass {
    fn with_workers(workers: usize) -> Self {
        Windlass(Builder::new().workers(workers).build().expect("windlass starts"))
    }
}
