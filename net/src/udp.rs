//! UDP.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

use crate::addrs::{ToSocketAddrs, no_address, resolve, with_first};
use crate::datagram::{Datagrams, datagram_methods};
use crate::methods::{buffer_methods, socket_methods, wrapper};
use crate::{Async, sys};

/// A UDP socket.
///
/// All methods take `&self`: any number of tasks may send and receive at a time. Each datagram goes to
/// one of those that receive.
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
    /// A socket with the first of the addresses that is free. With port 0 the OS chooses a port, which
    /// [`local_addr`](Self::local_addr) tells.
    ///
    /// Dropping the future leaves nothing behind.
    ///
    /// # Errors
    ///
    /// What the OS says of the last address; if a name is not found; if the runtime is shutting down.
    pub async fn bind<A: ToSocketAddrs>(addrs: A) -> io::Result<Self> {
        with_first(addrs, |address| Self::from_std(std::net::UdpSocket::bind(address)?)).await
    }

    /// Sets the peer: from now on [`send`](Self::send) sends to it, and only what comes from it is
    /// received. No packet is sent for that.
    ///
    /// Dropping the future leaves the socket as it was.
    ///
    /// # Errors
    ///
    /// What the OS says of the last address; if a name is not found.
    pub async fn connect<A: ToSocketAddrs>(&self, addrs: A) -> io::Result<()> {
        with_first(addrs, |address| self.io.get_ref().connect(address)).await
    }

    /// Sends a datagram to the first of the addresses. An empty one is one, too.
    ///
    /// Dropping the future loses nothing: unless it returned, nothing was sent.
    ///
    /// # Errors
    ///
    /// What the OS says; if a name is not found; if the runtime shuts down.
    pub async fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addrs: A) -> io::Result<usize> {
        let address = resolve(addrs).await?.next().ok_or_else(no_address)?;
        self.io.write_with(|socket| socket.send_to(buf, address)).await
    }

    /// As [`send_to`](Self::send_to), for poll functions. One task at a time: the last that polled.
    ///
    /// # Errors
    ///
    /// As for [`send_to`](Self::send_to).
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        address: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.io.poll_write_with(cx, |socket| socket.send_to(buf, address))
    }

    /// As [`send_to`](Self::send_to), without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room now; [`writable`](Self::writable) waits then. Otherwise as for
    /// [`send_to`](Self::send_to).
    pub fn try_send_to(&self, buf: &[u8], address: SocketAddr) -> io::Result<usize> {
        self.io.try_write_with(|socket| socket.send_to(buf, address))
    }

    datagram_methods!(SocketAddr);

    /// Receives a datagram without taking it: the next `recv` or `peek` gets the same one.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv).
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.read_with(|socket| sys::recv(socket, buf, true)).await
    }

    /// As [`peek`](Self::peek), and says where the datagram came from.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv).
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.read_with(|socket| sys::recv_from(socket, buf, true)).await
    }

    /// As [`peek_from`](Self::peek_from), for poll functions. One task at a time: the last that polled.
    ///
    /// # Errors
    ///
    /// As for [`recv`](Self::recv).
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<(usize, SocketAddr)>> {
        self.io.poll_read_with(cx, |socket| sys::recv_from(socket, buf, true))
    }

    /// As [`peek_from`](Self::peek_from), without waiting.
    ///
    /// # Errors
    ///
    /// As for [`try_recv`](Self::try_recv).
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.try_read_with(|socket| sys::recv_from(socket, buf, true))
    }

    /// As [`peek`](Self::peek), without waiting.
    ///
    /// # Errors
    ///
    /// As for [`try_recv`](Self::try_recv).
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.try_read_with(|socket| sys::recv(socket, buf, true))
    }

    socket_methods!();
    buffer_methods!();
}

/// Getters and setters that std has as they are wanted here.
macro_rules! forward {
    ($($(#[$doc:meta])* fn $name:ident(&self $(, $arg:ident: $type:ty)*) -> $result:ty;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// If the OS refuses.
            pub fn $name(&self $(, $arg: $type)*) -> io::Result<$result> {
                self.io.get_ref().$name($($arg),*)
            }
        )*
    };
}

/// Addresses and options.
impl UdpSocket {
    forward! {
        /// The socket's own address.
        fn local_addr(&self) -> SocketAddr;
        /// The address that the socket is connected to.
        fn peer_addr(&self) -> SocketAddr;
        /// Whether it may send to broadcast addresses.
        fn broadcast(&self) -> bool;
        /// Allows to send to broadcast addresses, or not.
        fn set_broadcast(&self, on: bool) -> ();
        /// How many hops packets may take.
        fn ttl(&self) -> u32;
        /// Sets how many hops packets may take.
        fn set_ttl(&self, ttl: u32) -> ();
        /// Whether what it sends to an IPv4 group comes back to this host.
        fn multicast_loop_v4(&self) -> bool;
        /// Has what it sends to an IPv4 group come back to this host, or not.
        fn set_multicast_loop_v4(&self, on: bool) -> ();
        /// How many hops packets to an IPv4 group may take.
        fn multicast_ttl_v4(&self) -> u32;
        /// Sets how many hops packets to an IPv4 group may take.
        fn set_multicast_ttl_v4(&self, ttl: u32) -> ();
        /// Whether what it sends to an IPv6 group comes back to this host.
        fn multicast_loop_v6(&self) -> bool;
        /// Has what it sends to an IPv6 group come back to this host, or not.
        fn set_multicast_loop_v6(&self, on: bool) -> ();
        /// Receives what is sent to an IPv6 group, on the interface with this index (0 for any).
        fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> ();
        /// Ends [`join_multicast_v6`](Self::join_multicast_v6).
        fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> ();
    }

    /// Receives what is sent to an IPv4 group, on the interface with this address
    /// (`Ipv4Addr::UNSPECIFIED` for any).
    ///
    /// # Errors
    ///
    /// If the OS refuses.
    pub fn join_multicast_v4(&self, group: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.get_ref().join_multicast_v4(&group, &interface)
    }

    /// Ends [`join_multicast_v4`](Self::join_multicast_v4).
    ///
    /// # Errors
    ///
    /// If the OS refuses.
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
