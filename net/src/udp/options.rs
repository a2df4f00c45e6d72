//! The addresses and options of UDP sockets.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use super::UdpSocket;

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
        /// Joins an IPv6 group on the interface with this index (0 for any), to receive datagrams sent to it.
        "if let Ok(socket) = UdpSocket::bind(\"[::]:0\").await {\n    let _ = socket.join_multicast_v6(&Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb), 0);\n}"
        fn join_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> ();
        /// Leaves an IPv6 group that was joined with [`join_multicast_v6`](Self::join_multicast_v6).
        "if let Ok(socket) = UdpSocket::bind(\"[::]:0\").await {\n    let _ = socket.leave_multicast_v6(&Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb), 0);\n}"
        fn leave_multicast_v6(&self, group: &Ipv6Addr, interface: u32) -> ();
    }

    /// Joins an IPv4 group on the interface with this address (`Ipv4Addr::UNSPECIFIED` for any), to receive datagrams
    /// sent to it.
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
