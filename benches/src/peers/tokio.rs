//! tokio, in both flavours, with everything enabled as `#[tokio::main]` has it.

use ::tokio::runtime::{Builder, Runtime};
use ::tokio::task::{self, JoinHandle};

use super::{Joined, Peer, SizedPeer, WORKERS};

/// The multi-threaded flavour.
pub(crate) struct Tokio(Runtime);

/// The single-threaded flavour: tasks run on the thread that is in `block_on`, and only then.
pub(crate) struct CurrentThread(Runtime);

impl Peer for Tokio {
    const NAME: &'static str = "tokio";
    type Join<T: Send + 'static> = Joined<JoinHandle<T>>;

    fn start() -> Self {
        Tokio::with_workers(WORKERS)
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
        Joined(task::spawn(future))
    }

    #[inline]
    fn detach<F>(future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(task::spawn(future));
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        task::yield_now()
    }
}

impl SizedPeer for Tokio {
    fn with_workers(workers: usize) -> Self {
        let built = Builder::new_multi_thread().worker_threads(workers).enable_all().build();
        Tokio(built.expect("tokio starts"))
    }
}

impl Peer for CurrentThread {
    const NAME: &'static str = "tokio-ct";
    type Join<T: Send + 'static> = Joined<JoinHandle<T>>;

    fn start() -> Self {
        CurrentThread(Builder::new_current_thread().enable_all().build().expect("tokio starts"))
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
        Joined(task::spawn(future))
    }

    #[inline]
    fn detach<F>(future: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        drop(task::spawn(future));
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        task::yield_now()
    }
}
