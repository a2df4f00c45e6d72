//! A local socket that is neither listening nor connected yet.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

use super::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use crate::sys;

/// A local socket that can be bound, and given options through its descriptor, before it listens or connects.
///
/// # Examples
///
/// A listener with a queue of a chosen length, and a client that has a name:
///
/// ```
/// use windlass::net::unix::UnixSocket;
///
/// # windlass::block_on(async {
/// # let path = std::env::temp_dir().join(format!("windlass-doc-socket-{}", std::process::id()));
/// # let name = path.with_extension("client");
/// let socket = UnixSocket::new_stream()?;
/// socket.bind(&path)?;
/// let listener = socket.listen(1024)?;
///
/// let socket = UnixSocket::new_stream()?;
/// socket.bind(&name)?;
/// let client = socket.connect(&path).await?;
/// let (_server, peer) = listener.accept().await?;
/// assert_eq!(peer.as_pathname(), Some(&*name));
/// # drop(client);
/// # std::fs::remove_file(&path)?;
/// # std::fs::remove_file(&name)?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct UnixSocket {
    socket: OwnedFd,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Stream,
    Datagram,
}

impl UnixSocket {
    /// Creates a socket for streams.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, for example if descriptors have run out.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::unix::UnixSocket;
    ///
    /// let socket = UnixSocket::new_stream()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new_stream() -> io::Result<Self> {
        Ok(Self { socket: sys::local_stream()?, kind: Kind::Stream })
    }

    /// Creates a socket for datagrams.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, for example if descriptors have run out.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::unix::UnixSocket;
    ///
    /// # windlass::block_on(async {
    /// let datagrams = UnixSocket::new_datagram()?.datagram()?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn new_datagram() -> io::Result<Self> {
        Ok(Self { socket: sys::local_datagram()?, kind: Kind::Datagram })
    }

    /// Binds the socket to a path, which must not exist yet. Dropping the socket does not remove the path.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `AddrInUse` if the path exists.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixSocket;
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-socket-bind-{}", std::process::id()));
    /// let socket = UnixSocket::new_stream()?;
    /// socket.bind(&path)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn bind<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.bind_addr(&SocketAddr::from_pathname(path)?)
    }

    /// Binds the socket to any local address, such as an abstract name; otherwise like [`bind`](Self::bind).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`bind`](Self::bind).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::{SocketAddr, UnixSocket};
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-socket-addr-{}", std::process::id()));
    /// let socket = UnixSocket::new_datagram()?;
    /// socket.bind_addr(&SocketAddr::from_pathname(&path)?)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn bind_addr(&self, address: &SocketAddr) -> io::Result<()> {
        sys::bind_local(sys::descriptor(&self.socket), address)
    }

    /// Listens for connections. Up to `backlog` of them wait to be accepted.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the socket is for datagrams, the OS's error, or an error if the runtime is shutting
    /// down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixSocket;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-socket-listen-{}", std::process::id()));
    /// let socket = UnixSocket::new_stream()?;
    /// socket.bind(&path)?;
    /// let listener = socket.listen(128)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        self.check(Kind::Stream)?;
        sys::listen(sys::descriptor(&self.socket), backlog)?;
        UnixListener::from_socket(self.socket)
    }

    /// Connects to the listener at `path`, like [`UnixStream::connect`].
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`UnixStream::connect`], or `InvalidInput` if the socket is for datagrams.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::{UnixListener, UnixSocket};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-socket-connect-{}", std::process::id()));
    /// # let listener = UnixListener::bind(&path)?;
    /// let stream = UnixSocket::new_stream()?.connect(&path).await?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn connect<P: AsRef<Path>>(self, path: P) -> io::Result<UnixStream> {
        self.connect_addr(&SocketAddr::from_pathname(path)?).await
    }

    /// Connects to any local address, such as an abstract name; otherwise like [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`connect`](Self::connect).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::{SocketAddr, UnixListener, UnixSocket};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-socket-to-{}", std::process::id()));
    /// # let listener = UnixListener::bind(&path)?;
    /// let address = SocketAddr::from_pathname(&path)?;
    /// let stream = UnixSocket::new_stream()?.connect_addr(&address).await?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn connect_addr(self, address: &SocketAddr) -> io::Result<UnixStream> {
        self.check(Kind::Stream)?;
        sys::connect_local(sys::descriptor(&self.socket), address)?;
        UnixStream::from_nonblocking(self.socket.into())
    }

    /// Turns the socket into one that sends and receives datagrams.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the socket is for streams, or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixSocket;
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-socket-datagram-{}", std::process::id()));
    /// let socket = UnixSocket::new_datagram()?;
    /// socket.bind(&path)?;
    /// let datagrams = socket.datagram()?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        self.check(Kind::Datagram)?;
        UnixDatagram::try_from(self.socket)
    }

    fn check(&self, wanted: Kind) -> io::Result<()> {
        if self.kind == wanted {
            return Ok(());
        }
        let message = match self.kind {
            Kind::Stream => "a local socket for streams sends no datagrams: use `new_datagram`",
            Kind::Datagram => "a local socket for datagrams has no connections: use `new_stream`",
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }
}

impl AsFd for UnixSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for UnixSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl From<UnixSocket> for OwnedFd {
    fn from(socket: UnixSocket) -> Self {
        socket.socket
    }
}
