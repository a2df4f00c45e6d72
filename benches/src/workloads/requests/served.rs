//! A server with any function for its connections.

use std::io;
use std::net::SocketAddr;

use super::{LONGER, MESSAGE};
use crate::load::{Ask, Job, Loads, Style};
use crate::measure::{Budget, Metrics};
use crate::peers::NetPeer;
use crate::service::Kind;
use crate::support::sys;

/// A task that accepts, and a task for each connection.
pub(super) struct Served<P> {
    peer: P,
    address: SocketAddr,
}

impl<P: NetPeer> Served<P> {
    pub(super) fn start<F>(handle: impl Fn(P::Stream) -> F + Send + 'static) -> Served<P>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        sys::raise_open_files().expect("up to the hard limit");
        let peer = P::start();
        let address = peer.run_task(async move {
            let (listener, address) = P::bind().await.expect("a free port");
            P::detach(async move {
                loop {
                    let stream = P::accept(&listener).await.expect("a connection");
                    P::detach(handle(stream));
                }
            });
            address
        });
        Served { peer, address }
    }

    /// The figures of a load that sends a message on each connection as soon as the last is answered.
    pub(super) fn asked(&self, budget: &Budget, service: Kind, connections: usize) -> Metrics {
        self.loaded(budget, service, connections, Style::Closed)
    }

    /// The figures of a load of another kind.
    #[inline(never)]
    pub(super) fn loaded(
        &self,
        budget: &Budget,
        service: Kind,
        connections: usize,
        style: Style,
    ) -> Metrics {
        let job = Job::Ask(Ask {
            style,
            ..Ask::closed(
                self.address,
                service,
                connections,
                budget.warm_up,
                budget.time.mul_f64(LONGER),
            )
        });
        self.peer.beside(|| Loads::one(&job).figures())
    }
}

/// Answers each message after something was done for it.
pub(super) async fn answer<P, W, F>(mut stream: P::Stream, work: W)
where
    P: NetPeer,
    W: Fn() -> F + Send + Sync,
    F: Future<Output = ()> + Send,
{
    let mut message = [0; MESSAGE];
    while read_exact::<P>(&mut stream, &mut message).await.is_ok() {
        work().await;
        if P::write_all(&mut stream, &message).await.is_err() {
            return;
        }
    }
}

/// Fills the buffer. The end of the stream is an error: a load that is done closes its connections.
pub(super) async fn read_exact<P: NetPeer>(
    stream: &mut P::Stream,
    buffer: &mut [u8],
) -> io::Result<()> {
    let mut filled = 0;
    while filled < buffer.len() {
        match P::read(stream, &mut buffer[filled..]).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(())
}
