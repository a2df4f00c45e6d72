//! Local datagram sockets.

use std::io;
use std::net::Shutdown;
use std::path::Path;
use std::task::{Context, Poll};

use windlass_runtime::{task, timer};

use super::SocketAddr;
use crate::datagram::{Datagrams, datagram_methods};
use crate::methods::{buffer_methods, socket_methods, wrapper};
use crate::policy::DATAGRAM_PAUSES;
use crate::sys::local;
use crate::{Async, sys};

/// A local datagram socket. Datagrams arrive whole, in order and reliably.
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
    /// Creates a socket at a path, which must not exist yet.
    ///
    /// Dropping the socket does not remove the path.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `AddrInUse` if the path exists, or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dgram-bind-{}", std::process::id()));
    /// let socket = UnixDatagram::bind(&path)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::from_std(local::UnixDatagram::bind(path)?)
    }

    /// Creates a socket at any local address, such as an abstract name; otherwise like [`bind`](Self::bind).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`bind`](Self::bind).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::SocketAddr;
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dgram-addr-{}", std::process::id()));
    /// let socket = UnixDatagram::bind_addr(&SocketAddr::from_pathname(&path)?)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::from_std(local::UnixDatagram::bind_addr(address)?)
    }

    /// Creates a socket without an address: it can send, and receives only if it is connected.
    ///
    /// # Errors
    ///
    /// Returns an error if descriptors have run out, or if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dgram-unbound-{}", std::process::id()));
    /// # let receiver = UnixDatagram::bind(&path)?;
    /// let sender = UnixDatagram::unbound()?;
    /// sender.send_to(b"ping", &path).await?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn unbound() -> io::Result<Self> {
        Self::from_std(local::UnixDatagram::unbound()?)
    }

    /// Creates two sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// Returns an error if descriptors have run out, or if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// let (a, b) = UnixDatagram::pair()?;
    /// a.send(b"ping").await?;
    /// assert_eq!(b.recv(&mut [0; 16]).await?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = local::UnixDatagram::pair()?;
        Ok((Self::from_fresh(a)?, Self::from_fresh(b)?))
    }

    /// Registers a socket on which nothing was sent yet.
    fn from_fresh(socket: local::UnixDatagram) -> io::Result<Self> {
        sys::set_nonblocking(sys::descriptor(&socket))?;
        Async::new_writable(socket).map(Self::from_async)
    }

    /// Sets the peer that [`send`](Self::send) sends to.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dgram-connect-{}", std::process::id()));
    /// # let receiver = UnixDatagram::bind(&path)?;
    /// let sender = UnixDatagram::unbound()?;
    /// sender.connect(&path)?;
    /// sender.send(b"ping").await?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.io.get_ref().connect(path)
    }

    /// Sets the peer to any local address, such as an abstract name; otherwise like [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::SocketAddr;
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dgram-connect-addr-{}", std::process::id()));
    /// # let receiver = UnixDatagram::bind(&path)?;
    /// let sender = UnixDatagram::unbound()?;
    /// sender.connect_addr(&SocketAddr::from_pathname(&path)?)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn connect_addr(&self, address: &SocketAddr) -> io::Result<()> {
        self.io.get_ref().connect_addr(address)
    }

    /// Sends a datagram to the socket at a path, and waits while that socket has no room.
    ///
    /// The OS reports that a receiver has room again only to a socket that is connected to it. Therefore this method
    /// tries again after pauses of 50 µs up to 5 ms. After [`connect`](Self::connect), [`send`](Self::send) is woken at
    /// once.
    ///
    /// If the future is dropped before it returns, nothing was sent.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dgram-send-to-{}", std::process::id()));
    /// # let receiver = UnixDatagram::bind(&path)?;
    /// let sender = UnixDatagram::unbound()?;
    /// sender.send_to(b"ping", &path).await?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        let path = path.as_ref();
        self.send_patiently(|socket| socket.send_to(buf, path)).await
    }

    /// Sends a datagram to any local address, such as an abstract name; otherwise like [`send_to`](Self::send_to).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`send_to`](Self::send_to).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::SocketAddr;
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dgram-send-addr-{}", std::process::id()));
    /// # let receiver = UnixDatagram::bind(&path)?;
    /// let sender = UnixDatagram::unbound()?;
    /// sender.send_to_addr(b"ping", &SocketAddr::from_pathname(&path)?).await?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn send_to_addr(&self, buf: &[u8], address: &SocketAddr) -> io::Result<usize> {
        self.send_patiently(|socket| socket.send_to_addr(buf, address)).await
    }

    async fn send_patiently(
        &self,
        send: impl Fn(&local::UnixDatagram) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let (mut pause, longest) = DATAGRAM_PAUSES;
        loop {
            task::consume_budget().await;
            match send(self.io.get_ref()).map_err(sys::no_room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    timer::sleep(pause).await;
                    pause = (pause * 2).min(longest);
                }
                result => return result,
            }
        }
    }

    /// Does what [`send_to`](Self::send_to) does, without waiting.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if the receiver has no room now; otherwise the same errors as [`send_to`](Self::send_to).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dgram-try-{}", std::process::id()));
    /// # let receiver = UnixDatagram::bind(&path)?;
    /// let sender = UnixDatagram::unbound()?;
    /// assert_eq!(sender.try_send_to(b"ping", &path)?, 4);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        // Outside of the attempt: no event follows where a lack of room is reported as an error of another kind.
        self.io.try_write_with(|socket| socket.send_to(buf, path)).map_err(sys::no_room)
    }

    /// Does what [`send_to_addr`](Self::send_to_addr) does, without waiting; otherwise like
    /// [`try_send_to`](Self::try_send_to).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_send_to`](Self::try_send_to).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::{SocketAddr, UnixDatagram};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dgram-try-addr-{}", std::process::id()));
    /// # let receiver = UnixDatagram::bind(&path)?;
    /// let sender = UnixDatagram::unbound()?;
    /// assert_eq!(sender.try_send_to_addr(b"ping", &SocketAddr::from_pathname(&path)?)?, 4);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_send_to_addr(&self, buf: &[u8], address: &SocketAddr) -> io::Result<usize> {
        self.io.try_write_with(|socket| socket.send_to_addr(buf, address)).map_err(sys::no_room)
    }

    datagram_methods!(SocketAddr);

    /// Shuts down one direction or both, and wakes the tasks that wait for it.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::net::Shutdown;
    ///
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let (a, b) = UnixDatagram::pair()?;
    /// a.shutdown(Shutdown::Write)?;
    /// assert!(a.send(b"ping").await.is_err());
    /// # drop(b);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get_ref().shutdown(how)?;
        self.io.registration().wake_all();
        Ok(())
    }

    /// Returns the address of this end.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS reports one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let (a, b) = UnixDatagram::pair()?;
    /// assert!(a.local_addr()?.is_unnamed());
    /// # drop(b);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get_ref().local_addr()
    }

    /// Returns the address that the socket is connected to.
    ///
    /// # Errors
    ///
    /// Returns `NotConnected` if it is not connected.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixDatagram;
    /// # windlass::block_on(async {
    /// # let (a, b) = UnixDatagram::pair()?;
    /// assert!(a.peer_addr()?.is_unnamed());
    /// # drop(b);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
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
