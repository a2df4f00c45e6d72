//! Receives datagrams into memory that need not be initialised, and returns their senders.
//!
//! The unsafe code turns memory that the OS has written into bytes.

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

use super::UdpSocket;
use crate::bytes::initialised;
use crate::sys;

/// The number of bytes by which a vector without room grows: every datagram fits.
const GROWTH: usize = 64 * 1024;

/// Receiving into memory that need not be initialised.
impl UdpSocket {
    /// Receives a datagram into memory that need not be initialised, and returns its bytes, which are the first of
    /// `buf`, and the address of its sender.
    ///
    /// Bytes that do not fit into `buf` are discarded. Dropping the future loses nothing: a datagram that was not
    /// returned stays in the queue. On Windows, `buf` is zeroed first.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    ///
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.send_to(b"ping", b.local_addr()?).await?;
    /// let mut buf = [MaybeUninit::uninit(); 1500];
    /// let (bytes, from) = b.recv_uninit_from(&mut buf).await?;
    /// assert_eq!((&*bytes, from), (&b"ping"[..], a.local_addr()?));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn recv_uninit_from<'b>(
        &self,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> io::Result<(&'b mut [u8], SocketAddr)> {
        let (count, from) = self.io.read_with(|socket| sys::recv_from_uninit(socket, buf)).await?;
        // SAFETY: the call has initialised as many bytes as it returned.
        Ok((unsafe { initialised(buf, count) }, from))
    }

    /// Does what [`recv_uninit_from`](Self::recv_uninit_from) does, for poll functions.
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
    /// use std::mem::MaybeUninit;
    ///
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
    /// a.send_to(b"ping", b.local_addr()?).await?;
    /// let mut buf = [MaybeUninit::uninit(); 1500];
    /// let length = std::future::poll_fn(|cx| {
    ///     b.poll_recv_uninit_from(cx, &mut buf).map_ok(|(bytes, _)| bytes.len())
    /// });
    /// assert_eq!(length.await?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_recv_uninit_from<'b>(
        &self,
        cx: &mut Context<'_>,
        buf: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<(&'b mut [u8], SocketAddr)>> {
        let receive = |socket: &_| sys::recv_from_uninit(socket, buf);
        let (count, from) = ready!(self.io.poll_read_with(cx, receive))?;
        // SAFETY: the call has initialised as many bytes as it returned.
        Poll::Ready(Ok((unsafe { initialised(buf, count) }, from)))
    }

    /// Receives a datagram to the end of `buf`, and returns its length.
    ///
    /// It is received into the vector's spare capacity, and bytes that do not fit there are discarded. A vector without
    /// spare capacity grows by 64 KiB, which is enough for every datagram.
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
    /// let mut buf = Vec::with_capacity(1500);
    /// assert_eq!(b.recv_buf(&mut buf).await?, 4);
    /// assert_eq!(buf, b"ping");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn recv_buf(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        Ok(self.recv_buf_from(buf).await?.0)
    }

    /// Does what [`recv_buf`](Self::recv_buf) does, and returns the address of the sender as well.
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
    /// let mut buf = Vec::with_capacity(1500);
    /// assert_eq!(b.recv_buf_from(&mut buf).await?, (4, a.local_addr()?));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn recv_buf_from(&self, buf: &mut Vec<u8>) -> io::Result<(usize, SocketAddr)> {
        let room = spare_capacity(buf);
        let (count, from) = self.io.read_with(|socket| sys::recv_from_uninit(socket, room)).await?;
        // SAFETY: the call has initialised as many bytes after the vector's end as it returned.
        unsafe { buf.set_len(buf.len() + count) };
        Ok((count, from))
    }

    /// Does what [`recv_buf`](Self::recv_buf) does, without waiting.
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
    /// let mut buf = Vec::with_capacity(1500);
    /// assert_eq!(b.try_recv_buf(&mut buf)?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_recv_buf(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        Ok(self.try_recv_buf_from(buf)?.0)
    }

    /// Does what [`recv_buf_from`](Self::recv_buf_from) does, without waiting.
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
    /// let mut buf = Vec::with_capacity(1500);
    /// assert_eq!(b.try_recv_buf_from(&mut buf)?, (4, a.local_addr()?));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_recv_buf_from(&self, buf: &mut Vec<u8>) -> io::Result<(usize, SocketAddr)> {
        let room = spare_capacity(buf);
        let (count, from) = self.io.try_read_with(|socket| sys::recv_from_uninit(socket, room))?;
        // SAFETY: the call has initialised as many bytes after the vector's end as it returned.
        unsafe { buf.set_len(buf.len() + count) };
        Ok((count, from))
    }

    /// Returns the sender of the next datagram, which stays in the queue.
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
    /// assert_eq!(b.peek_sender().await?, a.local_addr()?);
    /// assert_eq!(b.recv(&mut [0; 1500]).await?, 4);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn peek_sender(&self) -> io::Result<SocketAddr> {
        Ok(self.peek_from(&mut [0]).await?.1)
    }

    /// Does what [`peek_sender`](Self::peek_sender) does, without waiting.
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
    /// assert_eq!(b.try_peek_sender()?, a.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        Ok(self.try_peek_from(&mut [0])?.1)
    }
}

/// Returns the room after the end of a vector.
fn spare_capacity(buf: &mut Vec<u8>) -> &mut [MaybeUninit<u8>] {
    if buf.len() == buf.capacity() {
        buf.reserve(GROWTH);
    }
    buf.spare_capacity_mut()
}
