//! A local socket that takes connections.

use std::io;
use std::path::Path;
use std::task::{Context, Poll};

use super::{SocketAddr, UnixStream};
use crate::incoming::{Incoming, impl_listener, listener_methods, skip_aborted};
use crate::methods::{socket_methods, wrapper};
use crate::sys::local;
use crate::{Async, sys};

/// Listens for connections from processes of this machine.
///
/// What is said of [`TcpListener`](crate::TcpListener#when-descriptors-run-out) when descriptors run
/// out holds here, too.
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

    listener_methods!(UnixStream, SocketAddr);

    /// Lets no new connection into the queue, so that a server that is about to end can accept all that
    /// were made. Those in the queue can still be accepted. Who connects later is
    /// refused at once.
    ///
    /// Returns true if the OS can do that: on Linux. Elsewhere nothing happens, and a connection that is made
    /// between the last `accept` and the end of the listener is reset.
    ///
    /// # Errors
    ///
    /// If the OS refuses.
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
        sys::refuse_new_local(sys::descriptor(self))
    }

    socket_methods!();
}

fn next(listener: &local::UnixListener) -> io::Result<(local::UnixStream, SocketAddr)> {
    skip_aborted(|| listener.accept())
}

fn registered(
    (stream, peer): (local::UnixStream, SocketAddr),
) -> io::Result<(UnixStream, SocketAddr)> {
    Ok((UnixStream::from_connected(stream)?, peer))
}

impl_listener!(UnixListener, UnixStream);
