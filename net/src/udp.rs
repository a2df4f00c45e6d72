//! UDP sockets.

mod options;
mod uninit;

use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use crate::addrs::{ToSocketAddrs, first, with_first};
use crate::datagram::{Datagrams, datagram_methods};
use crate::methods::{buffer_methods, packet_methods, socket_methods, wrapper};
use crate::{Async, sys};

/// A UDP socket.
///
/// All methods take `&self`: any number of tasks can send and receive at the same time. Each datagram goes to one of
/// the tasks that receive.
///
/// Anyone can send to a socket that is not connected, and a sender's address can be forged. Verify the datagrams that
/// arrive, and do not answer an unverified sender with more than it sent.
///
/// # Examples
///
/// ```
/// use windlass::net::UdpSocket;
///
/// # windlass::block_on(async {
/// let server = UdpSocket::bind("127.0.0.1:0").await?;
/// let client = UdpSocket::bind("127.0.0.1:0").await?;
/// client.send_to(b"ping", server.local_addr()?).await?;
///
/// let mut buf = [0; 1500];
/// let (n, from) = server.recv_from(&mut buf).await?;
/// assert_eq!((&buf[..n], from), (&b"ping"[..], client.local_addr()?));
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct UdpSocket {
    io: Async<std::net::UdpSocket>,
}

wrapper!(UdpSocket, std::net::UdpSocket);

impl UdpSocket {
    /// Creates a socket that is bound to the first of the addresses that is free.
    ///
    /// With port 0 the OS chooses a port, which [`local_addr`](Self::local_addr) returns. Dropping the future leaves
    /// nothing behind.
    ///
    /// # Errors
    ///
    /// Returns the OS's error for the last address, or an error if a name is not found or the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// println!("receiving on {}", socket.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn bind<A: ToSocketAddrs>(addrs: A) -> io::Result<Self> {
        let bind = |address| std::net::UdpSocket::bind(address).and_then(Self::from_std);
        with_first(addrs, |address| ready(bind(address))).await
    }

    /// Sets the peer: [`send`](Self::send) sends to it, and only its datagrams are received.
    ///
    /// No packet is sent. Dropping the future leaves the socket as it was.
    ///
    /// # Errors
    ///
    /// Returns the OS's error for the last address, or an error if a name is not found.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.connect(b.local_addr()?).await?;
    /// a.send(b"ping").await?;
    /// # b.recv(&mut [0; 4]).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn connect<A: ToSocketAddrs>(&self, addrs: A) -> io::Result<()> {
        with_first(addrs, |address| ready(self.io.get_ref().connect(address))).await
    }

    /// Sends a datagram to the first of the addresses, and returns its length.
    ///
    /// An empty datagram is sent as well. If the future is dropped before it returns, nothing was sent.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if a name is not found or the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.send_to(b"ping", b.local_addr()?).await?;
    /// # b.recv(&mut [0; 4]).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addrs: A) -> io::Result<usize> {
        let address = first(addrs).await?;
        self.io.write_with(|socket| socket.send_to(buf, address)).await
    }

    /// Does what [`send_to`](Self::send_to) does, for poll functions.
    ///
    /// One task at a time can wait this way: the last one that polled.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`send_to`](Self::send_to).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// let address = b.local_addr()?;
    /// assert_eq!(poll_fn(|cx| a.poll_send_to(cx, b"ping", address)).await?, 4);
    /// # b.recv(&mut [0; 4]).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        address: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.io.poll_write_with(cx, |socket| socket.send_to(buf, address))
    }

    /// Does what [`send_to`](Self::send_to) does, without waiting.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if there is no room now; after that, [`writable`](Self::writable) waits. Otherwise
    /// returns the same errors as [`send_to`](Self::send_to).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert_eq!(a.try_send_to(b"ping", b.local_addr()?)?, 4);
    /// # b.recv(&mut [0; 4]).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_send_to(&self, buf: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.io.try_write_with(|socket| socket.send_to(buf, address))
    }

    datagram_methods!(SocketAddr);

    /// Receives a datagram without removing it from the queue: the next `recv` or `peek` returns the same one.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.send_to(b"ping", b.local_addr()?).await?;
    /// assert_eq!(b.peek(&mut [0; 1500]).await?, 4);
    /// assert_eq!(b.recv(&mut [0; 1500]).await?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.read_with(|socket| sys::recv(socket, buf, true)).await
    }

    /// Does what [`peek`](Self::peek) does, and returns the address of the sender as well.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.send_to(b"ping", b.local_addr()?).await?;
    /// let (n, from) = b.peek_from(&mut [0; 1500]).await?;
    /// assert_eq!((n, from), (4, a.local_addr()?));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.read_with(|socket| sys::recv_from(socket, buf, true)).await
    }

    /// Does what [`peek_from`](Self::peek_from) does, for poll functions.
    ///
    /// One task at a time can wait this way: the last one that polled.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.send_to(b"ping", b.local_addr()?).await?;
    /// let mut buf = [0; 1500];
    /// let (n, from) = poll_fn(|cx| b.poll_peek_from(cx, &mut buf)).await?;
    /// assert_eq!((n, from), (4, a.local_addr()?));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        self.io.poll_read_with(cx, |socket| sys::recv_from(socket, buf, true))
    }

    /// Does what [`peek_from`](Self::peek_from) does, without waiting.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_recv`](Self::try_recv).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.send_to(b"ping", b.local_addr()?).await?;
    /// b.readable().await?;
    /// let (n, from) = b.try_peek_from(&mut [0; 1500])?;
    /// assert_eq!((n, from), (4, a.local_addr()?));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.try_read_with(|socket| sys::recv_from(socket, buf, true))
    }

    /// Does what [`peek`](Self::peek) does, without waiting.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_recv`](Self::try_recv).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.send_to(b"ping", b.local_addr()?).await?;
    /// b.readable().await?;
    /// assert_eq!(b.try_peek(&mut [0; 1500])?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.try_read_with(|socket| sys::recv(socket, buf, true))
    }

    socket_methods!();
    buffer_methods!();
    packet_methods!("let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;");
}

impl Datagrams for std::net::UdpSocket {
    type Address = SocketAddr;

    fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.send(buf)
    }

    fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        sys::recv(self, buf, false)
    }

    fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        sys::recv_from(self, buf, false)
    }
}
