//! Connections, as they come from a listener.

use std::future::Future;
use std::io;

use hyper::rt::{Read, Write};
use windlass_hyper::Io;
use windlass_net::TcpStream;

/// A connection that HTTP can be spoken on, perhaps after a handshake of its own.
///
/// Implement it for what your own [`Listener`](crate::Listener) accepts, a connection that TLS comes first on, for
/// instance; the example `https` does.
pub trait Connection: Send + Sync + 'static {
    /// What HTTP is spoken on.
    type Io: Read + Write + Unpin + Send + 'static;

    /// Prepares the connection, in its own task: others are accepted meanwhile. If it does not come to an end
    /// within the time for a head, or within two seconds once the server is told to end, the connection is closed.
    ///
    /// # Errors
    ///
    /// If the peer can't be understood. The connection is closed.
    fn into_io(self) -> impl Future<Output = io::Result<Self::Io>> + Send;
}

/// TCP_NODELAY is set: a response that is written in two parts should not wait for the peer in between.
impl Connection for TcpStream {
    type Io = Io<TcpStream>;

    async fn into_io(self) -> io::Result<Self::Io> {
        // Only a peer that has gone refuses it, which the first read will tell.
        let _ = self.set_nodelay(true);
        Ok(Io::new(self))
    }
}
