//! The source of a server's connections.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;

use windlass_net::{TcpListener, TcpStream};

/// A source of connections: [`TcpListener`], `UnixListener`, or a type of your own around one of them.
///
/// # Examples
///
/// A listener that sets an option on each connection. [`ListenerExt::tap_io`](crate::ListenerExt::tap_io) does that in
/// a line; this is how to write one:
///
/// ```
/// use std::io;
/// use std::net::SocketAddr;
/// use windlass::net::{TcpListener, TcpStream};
/// use windlass::serve::Listener;
///
/// struct NoDelay(TcpListener);
///
/// fn no_delay((stream, peer): (TcpStream, SocketAddr)) -> io::Result<(TcpStream, SocketAddr)> {
///     stream.set_nodelay(true)?;
///     Ok((stream, peer))
/// }
///
/// impl Listener for NoDelay {
///     type Stream = TcpStream;
///     type Addr = SocketAddr;
///
///     async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
///         no_delay(self.0.accept().await?)
///     }
///
///     fn try_accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
///         no_delay(self.0.try_accept()?)
///     }
///
///     fn refuse_new(&self) -> io::Result<bool> {
///         self.0.refuse_new()
///     }
///
///     fn local_addr(&self) -> io::Result<SocketAddr> {
///         self.0.local_addr()
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no listener of windlass",
    note = "bind a `windlass::net::TcpListener`, or convert one of std's with its `from_std`; one of tokio's becomes that by \
            `into_std`"
)]
pub trait Listener: Send + Sync + 'static {
    /// The type of a connection.
    type Stream: Send + 'static;
    /// The type of a peer's address.
    type Addr: fmt::Debug + Send + 'static;

    /// Accepts the next connection. Dropping the future must not lose one.
    ///
    /// # Errors
    ///
    /// After an error, which is assumed to be temporary or one connection's, the server pauses and tries
    /// again. Only an error for which `windlass::is_shutdown_error` is true ends the server.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, Self::Addr)>> + Send;

    /// Accepts a connection if one is in the queue.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if there is none; otherwise the same errors as [`accept`](Self::accept).
    fn try_accept(&self) -> io::Result<(Self::Stream, Self::Addr)>;

    /// Closes the queue to new connections, and returns true if that was done. Connections in the queue can still be
    /// accepted.
    ///
    /// It must do nothing, and return false, if others may have the same queue, as
    /// [`TcpListener::refuse_new`] does.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses. The server continues nevertheless.
    fn refuse_new(&self) -> io::Result<bool>;

    /// Returns the address that it listens at.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS does not know it.
    fn local_addr(&self) -> io::Result<Self::Addr>;
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

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }
}
