//! A server as every async peer runs it.

use std::net::SocketAddr;
use std::sync::Arc;

use super::hog::Hog;
use crate::peers::NetPeer;
use crate::service::Service;
use crate::support::sys;

/// What a connection reads into.
pub(super) const BUFFER: usize = 1024;

/// A server that runs by itself. Dropping it stops it, where the peer can be stopped.
pub(in crate::workloads) trait Server: Sized {
    const NAME: &'static str;

    /// Starts it, with a hog beside it or alone.
    fn start<S: Service>(hog: Option<Arc<Hog>>) -> Self;

    fn address(&self) -> SocketAddr;

    /// Does something that blocks while the server goes on.
    fn beside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T;
}

/// A task that accepts, and a task for each connection.
pub(in crate::workloads) struct Tasks<P> {
    peer: P,
    address: SocketAddr,
}

impl<P: NetPeer> Server for Tasks<P> {
    const NAME: &'static str = P::NAME;

    fn start<S: Service>(hog: Option<Arc<Hog>>) -> Self {
        sys::raise_open_files().expect("up to the hard limit");
        let peer = P::start();
        let address = peer.run_task(async move {
            let (listener, address) = P::bind().await.expect("a free port");
            P::detach(accept_all::<P, S>(listener));
            if let Some(hog) = hog {
                P::detach(async move {
                    while hog.burst() {
                        P::yield_now().await;
                    }
                });
            }
            address
        });
        Tasks { peer, address }
    }

    fn address(&self) -> SocketAddr {
        self.address
    }

    fn beside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.peer.beside(work)
    }
}

impl<P> Tasks<P> {
    pub(in crate::workloads) fn peer(&self) -> &P {
        &self.peer
    }
}

async fn accept_all<P: NetPeer, S: Service>(listener: P::Listener) {
    loop {
        let stream = P::accept(&listener).await.expect("a connection");
        P::detach(serve::<P, S>(stream));
    }
}

async fn serve<P: NetPeer, S: Service>(mut stream: P::Stream) {
    let mut buffer = [0; BUFFER];
    let mut filled = 0;
    // A load that is done closes its connections, with a request in flight or without. One that does
    // not fit into the buffer leaves no room to read into, and ends like the end of the stream.
    while let Ok(count @ 1..) = P::read(&mut stream, &mut buffer[filled..]).await {
        filled += count;
        let Some(answer) = S::answer(&buffer[..filled]) else { continue };
        if P::write_all(&mut stream, answer).await.is_err() {
            return;
        }
        filled = 0;
    }
}
