//! UDP sockets.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

use crate::addrs::{ToSocketAddrs, no_address, resolve, with_first};
use crate::datagram::{Datagrams, datagram_methods};
use crate::methods::{buffer_methods, socket_methods, wrapper};
use crate::{Async, sys};

/// A UDP socket.
///
/// All methods take `&self`: any number of tasks can send and receive at the same time. Each datagram goes to one of the
/// tasks that receive.
///
/// Anyone can send to a socket that is not connected, and the address of a sender can be forged: verify what arrives, and
/// do not answer an unverified sender with more than it sent.
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
        with_first(addrs, |address| Self::from_std(std::net::UdpSocket::bind(address)?)).await
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
        with_first(addrs, |address| self.io.get_ref().connect(address)).await
    }

    /// Sends a datagram to the first of the addresses, and returns its length.
    ///
    /// An empty datagram is sent, too. Dropping the future loses nothing: unless it returned, nothing was sent.
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
        let address = resolve(addrs).await?.next().ok_or_else(no_address)?;
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
    /// Returns `WouldBlock` if there is no room now; after that, [`writable`](Self::writable) waits. Otherwise returns the
    /// same errors as [`send_to`](Self::send_to).
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
}

/// Defines getters and setters that call std's methods of the same names.
macro_rules! forward {
    ($($(#[$doc:meta])* $example:literal
       fn $name:ident(&self $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// Returns an error if the OS refuses.
            ///
            /// # Examples
            ///
            /// ```
            /// # use std::net::Ipv6Addr;
            /// # use windlass::net::UdpSocket;
            /// # windlass::block_on(async {
            #[doc = $example]
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub fn $name(&self $(, $arg: $type)*) -> io::Result<$result> {
                self.io.get_ref().$name($($arg),*)
            }
        )*
    };
}

/// Addresses and options.
impl UdpSocket {
    forward! {
        /// Returns the address that the socket is bound to.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nassert_ne!(socket.local_addr()?.port(), 0);"
        fn local_addr(&self) -> SocketAddr;
        /// Returns the address that the socket is connected to.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nassert!(socket.peer_addr().is_err()); // not connected"
        fn peer_addr(&self) -> SocketAddr;
        /// Returns true if the socket may send to broadcast addresses.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nassert!(!socket.broadcast()?);"
        fn broadcast(&self) -> bool;
        /// Sets whether the socket may send to broadcast addresses.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nsocket.set_broadcast(true)?;"
        fn set_broadcast(&self, on: bool) -> ();
        /// Returns the number of hops that packets may take.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nassert!(socket.ttl()? > 0);"
        fn ttl(&self) -> u32;
        /// Sets the number of hops that packets may take.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nsocket.set_ttl(16)?;"
        fn set_ttl(&self, ttl: u32) -> ();
        /// Returns true if datagrams sent to an IPv4 group are also delivered to this host.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nassert!(socket.multicast_loop_v4()?);"
        fn multicast_loop_v4(&self) -> bool;
        /// Sets whether datagrams sent to an IPv4 group are also delivered to this host.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nsocket.set_multicast_loop_v4(false)?;"
        fn set_multicast_loop_v4(&self, on: bool) -> ();
        /// Returns the number of hops that packets to an IPv4 group may take.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nassert_eq!(socket.multicast_ttl_v4()?, 1);"
        fn multicast_ttl_v4(&self) -> u32;
        /// Sets the number of hops that packets to an IPv4 group may take.
        "let socket = UdpSocket::bind(\"127.0.0.1:0\").await?;\nsocket.set_multicast_ttl_v4(4)?;"
        fn set_multicast_ttl_v4(&self, ttl: u32) -> ();
        /// Returns true if datagrams sent to an IPv6 group are also delivered to this host.
        "if let Ok(socket) = UdpSocket::bind(\"[::]:0\").await {\n    assert!(socket.multicast_loop_v6()?);\n}"
        fn multicast_loop_v6(&self) -> bool;
        /// Sets whether datagrams sent to an IPv6 group are also delivered to this host.
        "if let Ok(socket) = UdpSocket::bind(\"[::]:0\").await {\n    socket.set_multicast_loop_v6(false)?;\n}"
        fn set_multicast_loop_v6(&self, on: bool) -> ();
        /// Joins an IPv6 group on the interface with this index (0 for any), to receive what is sent to it.
        "if let Ok(socket) = UdpSocket::bind(\"[::]:0\").await {\n    let _ = socket.join_multicast_v6(&Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb), 0);\n}"
        fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> ();
        /// Leaves an IPv6 group that was joined with [`join_multicast_v6`](Self::join_multicast_v6).
        "if let Ok(socket) = UdpSocket::bind(\"[::]:0\").await {\n    let _ = socket.leave_multicast_v6(&Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb), 0);\n}"
        fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> ();
    }

    /// Joins an IPv4 group on the interface with this address (`Ipv4Addr::UNSPECIFIED` for any), to receive what is sent
    /// to it.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::net::Ipv4Addr;
    ///
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// let socket = UdpSocket::bind("0.0.0.0:0").await?;
    /// let group = Ipv4Addr::new(224, 0, 0, 251);
    /// if let Err(error) = socket.join_multicast_v4(group, Ipv4Addr::UNSPECIFIED) {
    ///     println!("no interface for the group: {error}");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn join_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.get_ref().join_multicast_v4(&group, &interface)
    }

    /// Leaves an IPv4 group that was joined with [`join_multicast_v4`](Self::join_multicast_v4).
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::net::Ipv4Addr;
    ///
    /// # use windlass::net::UdpSocket;
    /// # windlass::block_on(async {
    /// let socket = UdpSocket::bind("0.0.0.0:0").await?;
    /// let group = Ipv4Addr::new(224, 0, 0, 251);
    /// if socket.join_multicast_v4(group, Ipv4Addr::UNSPECIFIED).is_ok() {
    ///     socket.leave_multicast_v4(group, Ipv4Addr::UNSPECIFIED)?;
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn leave_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.get_ref().leave_multicast_v4(&group, &interface)
    }
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
