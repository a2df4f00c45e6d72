//! Connections, as they come from a listener, and their preparation for HTTP.

use crate::policy::LAST_HANDSHAKE;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use hyper::rt::{Read, Write};
use windlass_hyper::Io;
use windlass_net::{Keepalive, TcpStream};
use windlass_runtime::timer::timeout;
use windlass_sync::CancellationToken;

/// A connection that can carry HTTP, perhaps after a handshake of its own.
///
/// For TLS, or anything else that precedes HTTP on a connection, use [`Handshake`](crate::Handshake). Implement this
/// trait for the connections of your own [`Listener`](crate::Listener).
#[diagnostic::on_unimplemented(
    message = "HTTP can't be spoken on `{Self}`",
    note = "connections are windlass's own `TcpStream` and `UnixStream`; for TLS, wrap the listener in \
            `windlass::axum::Handshake`"
)]
pub trait Connection: Send + Sync + 'static {
    /// The stream that HTTP is spoken on.
    type Io: Read + Write + Unpin + Send + 'static;

    /// Sets the socket options that HTTP needs: TCP_NODELAY. Called before [`into_io`](Self::into_io), unless
    /// [`Serve::tcp_nodelay`](crate::Serve::tcp_nodelay) says otherwise. The default does nothing. A type that wraps
    /// another connection should call that connection's method.
    fn set_options(&self) {}

    /// Has the OS probe the connection while it is silent. Called before [`into_io`](Self::into_io) if
    /// [`Serve::tcp_keepalive`](crate::Serve::tcp_keepalive) is set. By default, it does nothing; a type around another
    /// connection calls that one's.
    fn set_tcp_keepalive(&self, keepalive: Keepalive) {
        let _ = keepalive;
    }

    /// Prepares the connection, in its own task: others are accepted meanwhile. If it does not come to an end
    /// within the time for a head, or within two seconds once the server is told to end, the connection is closed.
    ///
    /// # Errors
    ///
    /// Returns an error if the peer can't be understood. Then the connection is closed.
    fn into_io(self) -> impl Future<Output = io::Result<Self::Io>> + Send;
}

/// TCP_NODELAY is set: a response that is written in two parts should not wait for the peer in between.
impl Connection for TcpStream {
    type Io = Io<TcpStream>;

    fn set_options(&self) {
        // This only fails if the peer has gone, which the first read will report.
        let _ = self.set_nodelay(true);
    }

    fn set_tcp_keepalive(&self, keepalive: Keepalive) {
        if self.set_keepalive(Some(keepalive)).is_err() {
            // The OS has no such settings of a socket's own, or the peer has gone.
            let _ = self.set_keepalive(Some(Keepalive::new()));
        }
    }

    async fn into_io(self) -> io::Result<Self::Io> {
        Ok(Io::new(self))
    }
}

/// Prepares a connection for HTTP. Fails if that takes too long.
pub(crate) async fn set_up<C: Connection>(
    stream: C,
    limit: Option<Duration>,
    told: &CancellationToken,
) -> io::Result<C::Io> {
    let mut preparing = pin!(stream.into_io());
    // Most connections have nothing to wait for, and need neither a timer nor the token.
    let first = poll_fn(|cx| Poll::Ready(preparing.as_mut().poll(cx))).await;
    if let Poll::Ready(io) = first {
        return io;
    }
    let in_time = async {
        match told.run_until_cancelled(preparing.as_mut()).await {
            Some(io) => io,
            None => timeout(LAST_HANDSHAKE, preparing).await.map_err(|_| timed_out())?,
        }
    };
    match limit {
        Some(limit) => timeout(limit, in_time).await.map_err(|_| timed_out())?,
        None => in_time.await,
    }
}

fn timed_out() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the handshake did not come to an end in time")
}
