//! Sending and receiving, for all datagram sockets: UDP and local ones.

use std::io;

/// A non-blocking datagram socket.
pub(crate) trait Datagrams {
    /// The address of a sender.
    type Address;

    fn send(&self, buf: &[u8]) -> io::Result<usize>;
    fn recv(&self, buf: &mut [u8]) -> io::Result<usize>;
    fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, Self::Address)>;
}

/// Defines the methods for sending to the connected peer and for receiving, for a wrapper of a type that implements
/// [`Datagrams`]. `$address` is the type of its addresses.
macro_rules! datagram_methods {
    ($address:ty) => {
        /// Sends a datagram to the peer that the socket is connected to, and returns its length.
        ///
        /// An empty datagram is sent as well. If the future is dropped before it returns, nothing was sent.
        ///
        /// # Errors
        ///
        /// Returns the OS's error, which may concern an earlier datagram (`ConnectionRefused`), or an error if the
        /// runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::UdpSocket;
        /// # windlass::block_on(async {
        /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
        /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
        /// # a.connect(b.local_addr()?).await?;
        /// # b.connect(a.local_addr()?).await?;
        /// assert_eq!(a.send(b"ping").await?, 4);
        /// # b.recv(&mut [0; 4]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.write_with(|socket| Datagrams::send(socket, buf)).await
        }

        /// Does what [`send`](Self::send) does, for poll functions.
        ///
        /// One task at a time can wait this way: the last one that polled.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`send`](Self::send).
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
        /// # a.connect(b.local_addr()?).await?;
        /// # b.connect(a.local_addr()?).await?;
        /// assert_eq!(poll_fn(|cx| a.poll_send(cx, b"ping")).await?, 4);
        /// # b.recv(&mut [0; 4]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
            self.io.poll_write_with(cx, |socket| Datagrams::send(socket, buf))
        }

        /// Does what [`send`](Self::send) does, without waiting.
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is no room now; after that, [`writable`](Self::writable) waits. Otherwise
        /// returns the same errors as [`send`](Self::send).
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::UdpSocket;
        /// # windlass::block_on(async {
        /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
        /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
        /// # a.connect(b.local_addr()?).await?;
        /// # b.connect(a.local_addr()?).await?;
        /// assert_eq!(a.try_send(b"ping")?, 4);
        /// # b.recv(&mut [0; 4]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
            self.io.try_write_with(|socket| Datagrams::send(socket, buf))
        }

        /// Receives a datagram, and returns its length. Bytes that do not fit into `buf` are discarded.
        ///
        /// Dropping the future loses nothing: a datagram that was not returned stays in the queue.
        ///
        /// # Errors
        ///
        /// Returns the OS's error, which may concern a datagram that was sent before (`ConnectionRefused`), or an error
        /// if the runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::UdpSocket;
        /// # windlass::block_on(async {
        /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
        /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
        /// # a.connect(b.local_addr()?).await?;
        /// # b.connect(a.local_addr()?).await?;
        /// a.send(b"ping").await?;
        /// let mut buf = [0; 1500];
        /// let n = b.recv(&mut buf).await?;
        /// assert_eq!(&buf[..n], b"ping");
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.read_with(|socket| Datagrams::recv(socket, buf)).await
        }

        /// Does what [`recv`](Self::recv) does, for poll functions.
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
        /// # a.connect(b.local_addr()?).await?;
        /// # b.connect(a.local_addr()?).await?;
        /// a.send(b"ping").await?;
        /// let mut buf = [0; 1500];
        /// assert_eq!(poll_fn(|cx| b.poll_recv(cx, &mut buf)).await?, 4);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
            self.io.poll_read_with(cx, |socket| Datagrams::recv(socket, buf))
        }

        /// Does what [`recv`](Self::recv) does, without waiting.
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is none; after that, [`readable`](Self::readable) waits. Otherwise returns the
        /// same errors as [`recv`](Self::recv).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::ErrorKind;
        ///
        /// # use windlass::net::UdpSocket;
        /// # windlass::block_on(async {
        /// # let a = UdpSocket::bind("127.0.0.1:0").await?;
        /// # let b = UdpSocket::bind("127.0.0.1:0").await?;
        /// # a.connect(b.local_addr()?).await?;
        /// # b.connect(a.local_addr()?).await?;
        /// let mut buf = [0; 1500];
        /// assert_eq!(b.try_recv(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        /// a.send(b"ping").await?;
        /// b.readable().await?;
        /// assert_eq!(b.try_recv(&mut buf)?, 4);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
            self.io.try_read_with(|socket| Datagrams::recv(socket, buf))
        }

        /// Receives a datagram, and returns its length and the address of its sender.
        ///
        /// Bytes that do not fit into `buf` are discarded. Dropping the future loses nothing.
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
        /// # a.connect(b.local_addr()?).await?;
        /// # b.connect(a.local_addr()?).await?;
        /// a.send(b"ping").await?;
        /// let (n, from) = b.recv_from(&mut [0; 1500]).await?;
        /// assert_eq!((n, from), (4, a.local_addr()?));
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $address)> {
            self.io.read_with(|socket| Datagrams::recv_from(socket, buf)).await
        }

        /// Does what [`recv_from`](Self::recv_from) does, for poll functions.
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
        /// # a.connect(b.local_addr()?).await?;
        /// # b.connect(a.local_addr()?).await?;
        /// a.send(b"ping").await?;
        /// let mut buf = [0; 1500];
        /// let (n, from) = poll_fn(|cx| b.poll_recv_from(cx, &mut buf)).await?;
        /// assert_eq!((n, from), (4, a.local_addr()?));
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn poll_recv_from(
            &self,
            cx: &mut Context<'_>,
            buf: &mut [u8],
        ) -> Poll<io::Result<(usize, $address)>> {
            self.io.poll_read_with(cx, |socket| Datagrams::recv_from(socket, buf))
        }

        /// Does what [`recv_from`](Self::recv_from) does, without waiting.
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
        /// # a.connect(b.local_addr()?).await?;
        /// # b.connect(a.local_addr()?).await?;
        /// a.send(b"ping").await?;
        /// b.readable().await?;
        /// let (n, from) = b.try_recv_from(&mut [0; 1500])?;
        /// assert_eq!((n, from), (4, a.local_addr()?));
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, $address)> {
            self.io.try_read_with(|socket| Datagrams::recv_from(socket, buf))
        }
    };
}

pub(crate) use datagram_methods;
