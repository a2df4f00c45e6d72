//! A local socket that takes connections.

use std::io;
use std::path::Path;
use std::task::{Context, Poll};

use super::{SocketAddr, UnixStream};
use crate::Async;
use crate::incoming::{Incoming, Listener, skip_aborted};
use crate::methods::{socket_methods, wrapper};
use crate::sys::local;

/// Listens for connections from processes of this machine.
///
/// What is said of [`TcpListener`](crate::TcpListener#when-descriptors-run-out) when descriptors run
/// out holds here, too.
///
/// # Examples
///
/// ```
/// use windlass_net::unix::{UnixListener, UnixStream};
///
/// # windlass_runtime::block_on(async {
/// # let path = std::env::temp_dir().join(format!("windlass-doc-{}", std::process::id()));
/// let listener = UnixListener::bind(&path)?;
/// let client = UnixStream::connect(&path).await?;
/// let (server, _) = listener.accept().await?;
/// # std::fs::remove_file(&path)?;
/// server.write_all(b"welcome").await?;
/// let mut buf = [0; 7];
/// client.read_exact(&mut buf).await?;
/// # assert_eq!(&buf, b"welcome");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct UnixListener {
    io: Async<local::UnixListener>,
}

wrapper!(UnixListener, local::UnixListener);

impl UnixListener {
    /// Listens at a path, which must not exist yet. It stays when the listener is dropped; remove it.
    ///
    /// # Errors
    ///
    /// `AddrInUse` if the path exists, and whatever else the OS says; or if the runtime is shutting
    /// down.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::from_std(local::UnixListener::bind(path)?)
    }

    /// As [`bind`](Self::bind), at any local address, abstract names among them.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind).
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::from_std(local::UnixListener::bind_addr(address)?)
    }

    /// Takes the next connection, and the address of its peer. Several tasks may accept at a time.
    ///
    /// Dropping the future loses no connection: one that was not returned is still in the queue.
    ///
    /// # Errors
    ///
    /// If descriptors have run out, or if the runtime shuts down.
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.io.read_with(next).await.and_then(registered)
    }

    /// As [`accept`](Self::accept), for poll functions. One task at a time: the last that polled.
    ///
    /// # Errors
    ///
    /// As for [`accept`](Self::accept).
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        self.io.poll_read_with(cx, next).map(|result| result.and_then(registered))
    }

    /// Takes a connection if there is one.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is none; [`readable`](Self::readable) waits then. Otherwise as for
    /// [`accept`](Self::accept).
    pub fn try_accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.io.try_read_with(next).and_then(registered)
    }

    /// The connections as a stream.
    pub fn incoming(&self) -> Incoming<'_, Self> {
        Incoming::new(self)
    }

    /// The address it listens at.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get_ref().local_addr()
    }

    socket_methods!();
}

fn next(listener: &local::UnixListener) -> io::Result<(local::UnixStream, SocketAddr)> {
    skip_aborted(|| listener.accept())
}

fn registered(
    (stream, peer): (local::UnixStream, SocketAddr),
) -> io::Result<(UnixStream, SocketAddr)> {
    Ok((UnixStream::from_std(stream)?, peer))
}

impl Listener for UnixListener {
    type Stream = UnixStream;

    async fn accept_stream(&self) -> io::Result<UnixStream> {
        Ok(self.accept().await?.0)
    }

    fn poll_accept_stream(&self, cx: &mut Context<'_>) -> Poll<io::Result<UnixStream>> {
        self.poll_accept(cx).map_ok(|(stream, _)| stream)
    }
}
