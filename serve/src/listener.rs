//! What connections come from.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;

use windlass_net::{TcpListener, TcpStream};

/// A source of connections: [`TcpListener`], `UnixListener`, or one of your own around them.
pub trait Listener: Send + Sync + 'static {
    /// A connection.
    type Stream: Send + 'static;
    /// Where a connection comes from.
    type Addr: fmt::Debug + Send + 'static;

    /// Takes the next connection. Dropping the future loses none.
    ///
    /// # Errors
    ///
    /// An error of the OS is taken to go away: the server pauses and tries again. Any other ends it.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, Self::Addr)>> + Send;

    /// Takes a connection if there is one.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; otherwise as for [`accept`](Self::accept).
    fn try_accept(&self) -> io::Result<(Self::Stream, Self::Addr)>;

    /// Lets no new connection into the queue, if the OS can do that; those in it can still be accepted.
    ///
    /// # Errors
    ///
    /// If the OS refuses. The server goes on nevertheless.
    fn refuse_new(&self) -> io::Result<bool>;
}

impl Listener for TcpListener {
    type Stream = TcpStream;
    type Addr = SocketAddr;

    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.accept().await
    }

    fn try_accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.try_accept()
    }

    fn refuse_new(&self) -> io::Result<bool> {
        self.refuse_new()
    }
}
