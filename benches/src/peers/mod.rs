//! The runtimes measured, behind one trait that adds nothing to what they do.
//!
//! To add an async peer: one file here that implements [`Peer`], a `pub(crate) use` below, and its
//! type in the `peers!` list of each workload that suits it. A peer that is no async runtime (a
//! raw event loop, a fork-join pool) needs no trait: a workload's list takes any function.
//!
//! A peer with sockets also implements [`NetPeer`], in `net.rs`.
//!
//! All methods are thin enough to be inlined; each peer is configured as its users run it, with
//! [`WORKERS`] worker threads and its I/O and timers switched on.

mod net;
mod smol;
mod split;
mod time;
mod tokio;
mod windlass;

use std::fmt::Debug;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) use net::NetPeer;
pub(crate) use smol::Smol;
pub(crate) use split::SplitPeer;
pub(crate) use time::TimePeer;
pub(crate) use tokio::{CurrentThread, Tokio};
pub(crate) use windlass::{Unobserved, Windlass};

/// Worker threads of every multi-threaded peer.
pub(crate) const WORKERS: usize = 2;

/// A running async runtime. Dropping it stops it, where the runtime can be stopped.
pub(crate) trait Peer: Sized + 'static {
    /// As written on the command line and in results.
    const NAME: &'static str;

    /// What spawning returns: awaits to the task's output, and ends the run if the task failed.
    type Join<T: Send + 'static>: Future<Output = T> + Send + Unpin;

    /// Starts the runtime.
    fn start() -> Self;

    /// Runs a future on the calling thread, in the context of the runtime.
    fn block_on<F: Future>(&self, future: F) -> F::Output;

    /// Spawns from a thread that is not the runtime's.
    fn spawn_from_outside<F>(&self, future: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns from within a task.
    fn spawn<F>(future: F) -> Self::Join<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static;

    /// Spawns from within a task, not to be awaited.
    fn detach<F>(future: F)
    where
        F: Future<Output = ()> + Send + 'static;

    /// The peer's own way of letting other tasks run.
    fn yield_now() -> impl Future<Output = ()> + Send;

    /// Runs a future as a task of the runtime and waits for it on the calling thread.
    fn run_task<F>(&self, future: F) -> F::Output
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.block_on(self.spawn_from_outside(future))
    }
}

/// A runtime that can be given another number of workers.
pub(crate) trait SizedPeer: Peer {
    fn with_workers(workers: usize) -> Self;
}

/// Makes a handle that awaits to a `Result` await to the value, as [`Peer::Join`] wants it.
pub(crate) struct Joined<H>(H);

impl<H, T, E> Future for Joined<H>
where
    H: Future<Output = Result<T, E>> + Unpin,
    E: Debug,
{
    type Output = T;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        Pin::new(&mut self.0).poll(context).map(|output| output.expect("a task failed"))
    }
}
