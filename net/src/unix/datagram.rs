//! Datagrams between processes of one machine.

use std::io;
use std::net::Shutdown;
use std::path::Path;
use std::task::{Context, Poll};

use super::SocketAddr;
use crate::datagram::{Datagrams, datagram_methods};
use crate::methods::{buffer_methods, socket_methods, wrapper};
use crate::sys::local;
use crate::{Async, sys};

/// A local socket for datagrams, which arrive whole, in order and surely.
///
/// # Examples
///
/// ```
/// use windlass::net::unix::UnixDatagram;
///
/// # windlass::block_on(async {
/// let (a, b) = UnixDatagram::pair()?;
/// a.send(b"one").await?;
/// a.send(b"two").await?;
/// let mut buf = [0; 16];
/// assert_eq!(b.recv(&mut buf).await?, 3);
/// assert_eq!(&buf[..3], b"one");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct UnixDatagram {
    io: Async<local::UnixDatagram>,
}

wrapper!(UnixDatagram, local::UnixDatagram);

impl UnixDatagram {
    /// A socket at a path, which must not exist yet. It stays when the socket is dropped; remove it.
    ///
    /// # Errors
    ///
    /// `AddrInUse` if the path exists, and whatever else the OS says; or if the runtime is shutting
    /// down.
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::from_std(local::UnixDatagram::bind(path)?)
    }

    /// A socket without an address: it can send, and receives only if it is connected.
    ///
    /// # Errors
    ///
    /// If descriptors have run out, or if the runtime is shutting down.
    pub fn unbound() -> io::Result<Self> {
        Self::from_std(local::UnixDatagram::unbound()?)
    }

    /// Two sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// If descriptors have run out, or if the runtime is shutting down.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = local::UnixDatagram::pair()?;
        Ok((Self::from_std(a)?, Self::from_std(b)?))
    }

    /// Sets the peer that [`send`](Self::send) sends to.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.io.get_ref().connect(path)
    }

    /// Sends a datagram to the socket at a path; waits while that has no room.
    ///
    /// Dropping the future loses nothing: unless it returned, nothing was sent.
    ///
    /// # Errors
    ///
    /// What the OS says, or if the runtime shuts down.
    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        self.io.write_with(|socket| socket.send_to(buf, path.as_ref())).await
    }

    /// As [`send_to`](Self::send_to), without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if the receiver has no room now. Otherwise as for [`send_to`](Self::send_to).
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        self.io.try_write_with(|socket| socket.send_to(buf, path))
    }

    datagram_methods!(SocketAddr);

    /// Ends one direction or both.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get_ref().shutdown(how)
    }

    /// The address of this end.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get_ref().local_addr()
    }

    /// The address that the socket is connected to.
    ///
    /// # Errors
    ///
    /// `NotConnected` if it is not.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get_ref().peer_addr()
    }

    socket_methods!();
    buffer_methods!();
}

impl Datagrams for local::UnixDatagram {
    type Address = SocketAddr;

    fn send(&self, buf: &[u8]) -> io::Result<usize> {
        sys::send(sys::descriptor(self), buf)
    }

    fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.recv(buf)
    }

    fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.recv_from(buf)
    }
}
