//! A TCP socket that is neither listening nor connected yet.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use super::keepalive::tcp_options;
use super::{Keepalive, TcpListener, TcpStream};
use crate::Async;
use crate::methods::buffer_methods;
use crate::sys::{self, option};

/// A TCP socket to be set up before it listens or connects.
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
    // Std's type of a stream has all that a socket needs, connected or not.
    socket: std::net::TcpStream,
}

impl TcpSocket {
    /// A socket for IPv4.
    ///
    /// # Errors
    ///
    /// If the OS has none to give.
    pub fn new_v4() -> io::Result<Self> {
        Ok(Self { socket: sys::tcp_socket(false)? })
    }

    /// A socket for IPv6.
    ///
    /// # Errors
    ///
    /// If the OS has none to give.
    pub fn new_v6() -> io::Result<Self> {
        Ok(Self { socket: sys::tcp_socket(true)? })
    }

    pub(super) fn for_addr(address: &SocketAddr) -> io::Result<Self> {
        Ok(Self { socket: sys::tcp_socket(address.is_ipv6())? })
    }

    /// Whether an address may be bound that old connections still linger on.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell.
    pub fn reuse_address(&self) -> io::Result<bool> {
        self.flag(option::REUSE_ADDRESS)
    }

    /// Allows to bind an address that old connections still linger on, or not. A server that is
    /// restarted wants that on Unix, and [`TcpListener::bind`] does it there. On Windows, where servers
    /// need nothing of the kind, it lets **another process take the address over**.
    ///
    /// # Errors
    ///
    /// If the OS refuses.
    pub fn set_reuse_address(&self, on: bool) -> io::Result<()> {
        sys::set_option(sys::descriptor(self), option::REUSE_ADDRESS, on.into())
    }

    /// Whether several sockets may listen on the port, the OS dealing out the connections. Unix only.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell.
    #[cfg(unix)]
    pub fn reuse_port(&self) -> io::Result<bool> {
        self.flag(option::REUSE_PORT)
    }

    /// Allows several sockets to listen on the port, or not; all of them have to say so. Unix only.
    ///
    /// # Errors
    ///
    /// If the OS refuses.
    #[cfg(unix)]
    pub fn set_reuse_port(&self, on: bool) -> io::Result<()> {
        sys::set_option(sys::descriptor(self), option::REUSE_PORT, on.into())
    }

    tcp_options!();

    /// Gives the socket its own address.
    ///
    /// # Errors
    ///
    /// `AddrInUse`, and whatever else the OS says.
    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        sys::bind(sys::descriptor(self), &address)
    }

    /// The socket's own address.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Begins to listen. Up to `backlog` connections (the OS has a limit of its own) wait to be
    /// accepted.
    ///
    /// # Errors
    ///
    /// What the OS says, or if the runtime is shutting down.
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        sys::listen(sys::descriptor(&self), backlog)?;
        TcpListener::from_socket(self.socket)
    }

    /// Connects.
    ///
    /// Dropping the future closes the socket, and with it the attempt.
    ///
    /// # Errors
    ///
    /// `ConnectionRefused`, and whatever else the OS says; or if the runtime shuts down.
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

    pub(crate) fn socket(&self) -> &std::net::TcpStream {
        &self.socket
    }

    pub(crate) fn into_socket(self) -> std::net::TcpStream {
        self.socket
    }

    fn std(&self) -> &std::net::TcpStream {
        &self.socket
    }

    fn flag(&self, option: sys::SocketOption) -> io::Result<bool> {
        Ok(sys::get_option(sys::descriptor(self), option)? != 0)
    }
}

/// What has become of an attempt to connect; `WouldBlock` if it is still under way.
fn connected(socket: &std::net::TcpStream) -> io::Result<()> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    // Sockets count as ready until shown otherwise: only a peer says that this one is connected.
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
