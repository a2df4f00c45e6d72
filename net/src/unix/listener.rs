//! A local socket that accepts connections.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::task::{Context, Poll};

use super::{SocketAddr, UnixStream};
use crate::incoming::{Incoming, impl_listener, listener_methods, skip_aborted};
use crate::methods::{socket_methods, wrapper};
use crate::sys::local;
use crate::{Async, sys};

/// A socket that listens for connections from processes on this machine.
///
/// When descriptors run out, it behaves like [`TcpListener`](crate::TcpListener#when-descriptors-run-out).
///
/// # Examples
///
/// ```
/// use windlass::net::unix::{UnixListener, UnixStream};
///
/// # windlass::block_on(async {
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
    is_shared: bool,
}

wrapper!(UnixListener, local::UnixListener, Async::new, is_shared);

impl UnixListener {
    /// Listens at a path, which must not exist yet.
    ///
    /// Dropping the listener does not remove the path.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `AddrInUse` if the path exists, or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixListener;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-listener-bind-{}", std::process::id()));
    /// let listener = UnixListener::bind(&path)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Async::new(local::UnixListener::bind(path)?).map(Self::from_async)
    }

    /// Listens at any local address, such as an abstract name; otherwise like [`bind`](Self::bind).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`bind`](Self::bind).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::SocketAddr;
    /// # use windlass::net::unix::UnixListener;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-listener-addr-{}", std::process::id()));
    /// let listener = UnixListener::bind_addr(&SocketAddr::from_pathname(&path)?)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Async::new(local::UnixListener::bind_addr(address)?).map(Self::from_async)
    }

    pub(super) fn from_socket(socket: OwnedFd) -> io::Result<Self> {
        Async::new(socket.into()).map(Self::from_async)
    }

    listener_methods!(UnixStream, SocketAddr);

    /// Closes the queue to new connections, so that a server that is about to end can accept all established ones.
    ///
    /// Connections in the queue can still be accepted. Later clients are refused at once.
    ///
    /// Returns true if the queue is now closed. This needs the support of the OS, and Linux has it. Otherwise nothing
    /// happens, and a connection that is established between the last `accept` and the end of the listener is reset.
    ///
    /// **The socket's queue is closed for good**: other processes that have the socket get no connections any more, nor
    /// do those that receive it later. Therefore this does nothing to a listener that [may be shared](Self::is_shared).
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::unix::{UnixListener, UnixStream};
    ///
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-refuse-{}", std::process::id()));
    /// let listener = UnixListener::bind(&path)?;
    /// let client = UnixStream::connect(&path).await?;
    /// listener.refuse_new()?;
    /// let (last, _) = listener.accept().await?;
    /// # std::fs::remove_file(&path)?;
    /// # drop((client, last));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn refuse_new(&self) -> io::Result<bool> {
        if self.is_shared {
            return Ok(false);
        }
        sys::refuse_new_local(sys::descriptor(self))
    }

    socket_methods!();
}

fn next(listener: &local::UnixListener) -> io::Result<(local::UnixStream, SocketAddr)> {
    skip_aborted(|| listener.accept())
}

/// Registers an accepted connection with the runtime.
fn registered(
    (stream, peer): (local::UnixStream, SocketAddr),
) -> io::Result<(UnixStream, SocketAddr)> {
    Ok((UnixStream::from_connected(stream)?, peer))
}

impl_listener!(UnixListener, UnixStream);
