//! A TCP socket that is neither listening nor connected yet.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use super::options::tcp_options;
use super::{Keepalive, TcpListener, TcpStream};
use crate::Async;
use crate::methods::{buffer_methods, packet_methods};
use crate::sys::{self, option};

/// A TCP socket whose options can be set before it listens or connects.
///
/// # Examples
///
/// ```
/// use windlass::net::TcpSocket;
///
/// # windlass::block_on(async {
/// let socket = TcpSocket::new_v4()?;
/// socket.set_nodelay(true)?;
/// socket.set_recv_buffer_size(1 << 20)?;
/// socket.bind("127.0.0.1:0".parse().unwrap())?;
/// let listener = socket.listen(1024)?;
///
/// let client = TcpSocket::new_v4()?.connect(listener.local_addr()?).await?;
/// assert_eq!(client.peer_addr()?, listener.local_addr()?);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct TcpSocket {
    // Std's stream has everything that a socket needs, connected or not.
    socket: std::net::TcpStream,
    /// True if others may have it, because it was made elsewhere.
    is_shared: bool,
}

impl TcpSocket {
    /// Creates a socket for IPv4.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, for example if descriptors have run out.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new_v4() -> io::Result<Self> {
        Ok(Self { is_shared: false, socket: sys::tcp_socket(false)? })
    }

    /// Creates a socket for IPv6.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, for example if descriptors have run out.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpSocket;
    ///
    /// match TcpSocket::new_v6() {
    ///     Ok(socket) => println!("{socket:?}"),
    ///     Err(error) => println!("no IPv6 here: {error}"),
    /// }
    /// ```
    pub fn new_v6() -> io::Result<Self> {
        Ok(Self { is_shared: false, socket: sys::tcp_socket(true)? })
    }

    /// Converts an unconnected stream of std's, such as `socket2` creates, and puts it into non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses that.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io;
    /// use windlass::net::{TcpListener, TcpSocket};
    ///
    /// fn listen(made_elsewhere: std::net::TcpStream) -> io::Result<TcpListener> {
    ///     let socket = TcpSocket::from_std_stream(made_elsewhere)?;
    ///     socket.bind("127.0.0.1:0".parse().unwrap())?;
    ///     socket.listen(1024)
    /// }
    /// ```
    pub fn from_std_stream(socket: std::net::TcpStream) -> io::Result<Self> {
        sys::set_nonblocking(sys::descriptor(&socket))?;
        Ok(Self { socket, is_shared: true })
    }

    pub(super) fn for_addr(address: &SocketAddr) -> io::Result<Self> {
        Ok(Self { is_shared: false, socket: sys::tcp_socket(address.is_ipv6())? })
    }

    /// Returns true if the socket may bind to an address on which old connections linger.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS reports one.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert!(!socket.reuse_address()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn reuse_address(&self) -> io::Result<bool> {
        self.flag(option::REUSE_ADDRESS)
    }

    /// Sets whether the socket may bind to an address on which old connections linger.
    ///
    /// A server that is restarted needs this on Unix, where [`TcpListener::bind`] sets it. On Windows a server does not
    /// need it, and it would let **another process take over the address**.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_reuse_address(true)?;
    /// assert!(socket.reuse_address()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_reuse_address(&self, on: bool) -> io::Result<()> {
        sys::set_option(sys::descriptor(self), option::REUSE_ADDRESS, on.into())
    }

    /// Returns true if several sockets may listen on the port, with the connections distributed by the OS. Unix only.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS reports one.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// assert!(!socket.reuse_port()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(unix)]
    pub fn reuse_port(&self) -> io::Result<bool> {
        self.flag(option::REUSE_PORT)
    }

    /// Sets whether several sockets may listen on the port. Each of them has to set it. Unix only.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_reuse_port(true)?;
    /// assert!(socket.reuse_port()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(unix)]
    pub fn set_reuse_port(&self, on: bool) -> io::Result<()> {
        sys::set_option(sys::descriptor(self), option::REUSE_PORT, on.into())
    }

    /// The same as [`reuse_address`](Self::reuse_address), under its name in tokio.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS reports one.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!windlass::net::TcpSocket::new_v4()?.reuseaddr()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn reuseaddr(&self) -> io::Result<bool> {
        self.reuse_address()
    }

    /// The same as [`set_reuse_address`](Self::set_reuse_address), under its name in tokio.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::net::TcpSocket::new_v4()?.set_reuseaddr(true)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set_reuseaddr(&self, on: bool) -> io::Result<()> {
        self.set_reuse_address(on)
    }

    /// The same as [`reuse_port`](Self::reuse_port), under its name in tokio.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS reports one.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(!windlass::net::TcpSocket::new_v4()?.reuseport()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(unix)]
    pub fn reuseport(&self) -> io::Result<bool> {
        self.reuse_port()
    }

    /// The same as [`set_reuse_port`](Self::set_reuse_port), under its name in tokio.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::net::TcpSocket::new_v4()?.set_reuseport(true)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(unix)]
    pub fn set_reuseport(&self, on: bool) -> io::Result<()> {
        self.set_reuse_port(on)
    }

    tcp_options!();
    packet_methods!("let socket = TcpSocket::new_v4()?;");

    /// Binds the socket to an address.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `AddrInUse`.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        sys::bind(sys::descriptor(self), &address)
    }

    /// Returns the address that the socket is bound to.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS reports one.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// assert_ne!(socket.local_addr()?.port(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Listens for connections. Up to `backlog` of them wait to be accepted; the OS has a limit of its own.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpSocket;
    ///
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// let listener = socket.listen(64)?;
    /// # drop(listener);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        sys::listen(sys::descriptor(&self), backlog)?;
        let mut listener = TcpListener::from_socket(self.socket)?;
        listener.set_shared(self.is_shared);
        Ok(listener)
    }

    /// Connects to an address.
    ///
    /// Dropping the future closes the socket, which ends the attempt.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `ConnectionRefused`, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::{TcpListener, TcpSocket};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpSocket::new_v4()?.connect(listener.local_addr()?).await?;
    /// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn connect(self, address: SocketAddr) -> io::Result<TcpStream> {
        if !sys::CONNECTS_REGISTERED {
            sys::start_connect(sys::descriptor(&self), &address)?;
        }
        let stream = Async::new_nonblocking(self.socket)?;
        if sys::CONNECTS_REGISTERED {
            sys::start_connect(sys::descriptor(&stream), &address)?;
        }
        stream.write_with(connected).await?;
        Ok(TcpStream::from_connected(stream))
    }

    pub(crate) fn into_socket(self) -> std::net::TcpStream {
        self.socket
    }

    pub(crate) fn std(&self) -> &std::net::TcpStream {
        &self.socket
    }

    fn flag(&self, option: sys::SocketOption) -> io::Result<bool> {
        Ok(sys::get_option(sys::descriptor(self), option)? != 0)
    }
}

/// Returns the outcome of an attempt to connect, or `WouldBlock` if there is none yet.
fn connected(socket: &std::net::TcpStream) -> io::Result<()> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    // Sockets are assumed to be ready until a try fails: only the address of a peer proves that this one is connected.
    match socket.peer_addr() {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        result => result.map(drop),
    }
}

impl fmt::Debug for TcpSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TcpSocket").field(&self.socket).finish()
    }
}
