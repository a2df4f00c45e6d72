//! A TCP connection.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddr};
use std::task::{Context, Poll};

use super::options::tcp_options;
use super::{Keepalive, TcpSocket};
use crate::addrs::{ToSocketAddrs, with_first};
use crate::halves::{
    self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf, duplex_methods, impl_duplex,
};
use crate::methods::{buffer_methods, read_methods, socket_methods, wrapper, write_methods};
use crate::{Async, sys};

/// A TCP connection.
///
/// Reading and writing take `&self`: one task can read while another writes. Any number of tasks can wait for the same
/// direction; all wake up, and one of them gets the bytes. `TcpStream` and `&TcpStream` implement
/// [`AsyncRead`](futures_io::AsyncRead) and [`AsyncWrite`](futures_io::AsyncWrite). Through these traits one task at a
/// time can wait for a direction: the last one that polled.
///
/// Dropping the stream closes the connection. The peer sees the end of the stream after everything that was written,
/// unless there were unread bytes: then the OS resets the connection, and the peer may lose what it has not read yet.
/// To avoid that, call [`shutdown`](Self::shutdown) and read to the end.
///
/// # Examples
///
/// ```
/// use windlass::net::{TcpListener, TcpStream};
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let client = TcpStream::connect(listener.local_addr()?).await?;
/// let (server, _) = listener.accept().await?;
///
/// client.write_all(b"all of it").await?;
/// client.shutdown(std::net::Shutdown::Write)?;
/// let mut got = Vec::new();
/// server.read_to_end(&mut got).await?;
/// assert_eq!(got, b"all of it");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct TcpStream {
    io: Async<std::net::TcpStream>,
}

wrapper!(TcpStream, std::net::TcpStream);

impl TcpStream {
    /// Connects to the first of the addresses that accepts. They are tried one after the other.
    ///
    /// To bind to an address first, or to set options, use [`TcpSocket`].
    ///
    /// Dropping the future closes the socket, which ends the attempt.
    ///
    /// # Errors
    ///
    /// Returns the OS's error for the last address, such as `ConnectionRefused`, or an error if a name is not found or
    /// the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// # drop(stream);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn connect<A: ToSocketAddrs>(addrs: A) -> io::Result<Self> {
        with_first(
            addrs,
            |address| async move { TcpSocket::for_addr(&address)?.connect(address).await },
        )
        .await
    }

    pub(super) fn from_connected(io: Async<std::net::TcpStream>) -> Self {
        Self::from_async(io)
    }

    read_methods!();

    /// Reads some bytes without removing them from the stream: the next read returns the same bytes.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (stream, _) = listener.accept().await?;
    /// peer.write_all(b"hello").await?;
    /// assert_eq!(stream.peek(&mut [0; 16]).await?, 5);
    /// assert_eq!(stream.read(&mut [0; 16]).await?, 5);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        if buf.is_empty() {
            return Ok(0);
        }
        self.io.read_with(|stream| stream.peek(buf)).await
    }

    /// Does what [`peek`](Self::peek) does, for poll functions.
    ///
    /// One task at a time can wait this way: the last one that polled.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (stream, _) = listener.accept().await?;
    /// peer.write_all(b"hello").await?;
    /// let mut buf = [0; 16];
    /// assert_eq!(poll_fn(|cx| stream.poll_peek(cx, &mut buf)).await?, 5);
    /// # drop(peer);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if buf.is_empty() {
            return Poll::Ready(Ok(0));
        }
        self.io.poll_read_with(cx, |stream| stream.peek(buf))
    }

    /// Returns true if received data is acknowledged at once, and not with the next segment that is sent. Linux only.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS reports one, or `Unsupported` on other systems.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (stream, _) = listener.accept().await?;
    /// println!("{:?}", stream.quickack());
    /// # drop(peer);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn quickack(&self) -> io::Result<bool> {
        let option = sys::option::QUICK_ACK.ok_or(io::ErrorKind::Unsupported)?;
        Ok(sys::get_option(sys::descriptor(self), option)? != 0)
    }

    /// Sets whether received data is acknowledged at once. Linux only; the kernel may change it back when it sees fit.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses, or `Unsupported` on other systems.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (stream, _) = listener.accept().await?;
    /// let _ = stream.set_quickack(true);
    /// # drop(peer);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        let option = sys::option::QUICK_ACK.ok_or(io::ErrorKind::Unsupported)?;
        sys::set_option(sys::descriptor(self), option, quickack.into())
    }

    write_methods!();

    duplex_methods!(SocketAddr);
    tcp_options!();
    socket_methods!();

    fn std(&self) -> &std::net::TcpStream {
        self.io.get_ref()
    }
}

// A read that returns fewer bytes than it could has taken everything.
impl_duplex!(TcpStream, std::net::TcpStream, SHORT_READ_DRAINS = true);
halves::addresses!(TcpStream, SocketAddr);
