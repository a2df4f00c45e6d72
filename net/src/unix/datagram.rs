//! Datagrams between processes of one machine.

use std::io;
use std::net::Shutdown;
use std::path::Path;
use std::task::{Context, Poll};
use std::time::Duration;

use windlass_runtime::{task, timer};

use super::SocketAddr;
use crate::datagram::{Datagrams, datagram_methods};
use crate::methods::{buffer_methods, socket_methods, wrapper};
use crate::sys::local;
use crate::{Async, sys};

/// The first and the longest pause between two tries to send to a receiver that has no room.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(5));

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

    /// As [`bind`](Self::bind), at any local address, abstract names among them.
    ///
    /// # Errors
    ///
    /// As for [`bind`](Self::bind).
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::from_std(local::UnixDatagram::bind_addr(address)?)
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
        Ok((Self::from_fresh(a)?, Self::from_fresh(b)?))
    }

    /// Nothing was sent yet.
    fn from_fresh(socket: local::UnixDatagram) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Async::new_writable(socket).map(Self::from_async)
    }

    /// Sets the peer that [`send`](Self::send) sends to.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.io.get_ref().connect(path)
    }

    /// As [`connect`](Self::connect), to any local address, abstract names among them.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        self.io.get_ref().connect_addr(address)
    }

    /// Sends a datagram to the socket at a path; waits while that has no room.
    ///
    /// The OS does not tell when a receiver has room again, except to a socket that is connected to it. So this one
    /// tries again after a pause, of 50 µs at first and 5 ms at last; [`connect`](Self::connect) and
    /// [`send`](Self::send) come to know it at once.
    ///
    /// Dropping the future loses nothing: unless it returned, nothing was sent.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        let path = path.as_ref();
        self.send_patiently(|socket| socket.send_to(buf, path)).await
    }

    /// As [`send_to`](Self::send_to), to any local address, abstract names among them.
    ///
    /// # Errors
    ///
    /// As for [`send_to`](Self::send_to).
    pub async fn send_to_addr(&self, buf: &[u8], address: &SocketAddr) -> io::Result<usize> {
        self.send_patiently(|socket| socket.send_to_addr(buf, address)).await
    }

    async fn send_patiently(
        &self,
        send: impl Fn(&local::UnixDatagram) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let (mut pause, longest) = PAUSES;
        loop {
            task::consume_budget().await;
            match send(self.io.get_ref()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    timer::sleep(pause).await;
                    pause = (pause * 2).min(longest);
                }
                result => return result,
            }
        }
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

    /// Ends one direction or both. Tasks that wait for one that has been ended wake.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get_ref().shutdown(how)?;
        self.io.registration().wake_all();
        Ok(())
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
