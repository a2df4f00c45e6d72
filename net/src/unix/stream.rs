//! A local connection.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::path::Path;
use std::task::{Context, Poll};

use super::{SocketAddr, UnixSocket};
use crate::halves::{
    self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf, duplex_methods, impl_duplex,
};
use crate::methods::{buffer_methods, read_methods, socket_methods, wrapper, write_methods};
use crate::sys::local;
use crate::{Async, sys};

/// A connection between two processes on this machine, or within one. It is used like a
/// [`TcpStream`](crate::TcpStream).
///
/// # Examples
///
/// ```
/// use windlass::net::unix::UnixStream;
///
/// # windlass::block_on(async {
/// let (a, b) = UnixStream::pair()?;
/// a.write_all(b"hello").await?;
/// let mut buf = [0; 5];
/// b.read_exact(&mut buf).await?;
/// assert_eq!(&buf, b"hello");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct UnixStream {
    io: Async<local::UnixStream>,
}

wrapper!(UnixStream, local::UnixStream);

crate::adapter::impl_read_uninit!([] UnixStream);
impl crate::adapter::WriteVectored for UnixStream {}

impl UnixStream {
    /// Connects to the listener at `path`.
    ///
    /// It never waits, so there is nothing to cancel. A listener without room in its queue refuses
    /// with `WouldBlock`, and the OS does not report when there is room: pause, and try again.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `NotFound`, `ConnectionRefused` or `WouldBlock` as above, or
    /// an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::{UnixListener, UnixStream};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-stream-connect-{}", std::process::id()));
    /// # let listener = UnixListener::bind(&path)?;
    /// let stream = UnixStream::connect(&path).await?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn connect<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::connect_addr(&SocketAddr::from_pathname(path)?).await
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
    /// # use windlass::net::unix::SocketAddr;
    /// # use windlass::net::unix::{UnixListener, UnixStream};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-stream-addr-{}", std::process::id()));
    /// # let listener = UnixListener::bind(&path)?;
    /// let stream = UnixStream::connect_addr(&SocketAddr::from_pathname(&path)?).await?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn connect_addr(address: &SocketAddr) -> io::Result<Self> {
        UnixSocket::new_stream()?.connect_addr(address).await
    }

    /// Registers a stream that is non-blocking, and on which nothing was sent yet.
    pub(super) fn from_nonblocking(stream: local::UnixStream) -> io::Result<Self> {
        Async::new_writable(stream).map(Self::from_async)
    }

    /// Creates two streams that are connected to each other.
    ///
    /// # Errors
    ///
    /// Returns an error if descriptors have run out, or if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixStream;
    /// # windlass::block_on(async {
    /// let (a, b) = UnixStream::pair()?;
    /// a.write_all(b"ping").await?;
    /// b.read_exact(&mut [0; 4]).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = local::UnixStream::pair()?;
        Ok((Self::from_connected(a)?, Self::from_connected(b)?))
    }

    /// Registers a stream on which nothing was sent yet.
    pub(super) fn from_connected(stream: local::UnixStream) -> io::Result<Self> {
        sys::set_nonblocking(sys::descriptor(&stream))?;
        Async::new_writable(stream).map(Self::from_async)
    }

    read_methods!();
    write_methods!();

    duplex_methods!(SocketAddr);

    /// Returns the credentials that the process at the other end had when it connected, as the kernel recorded them.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS reports one.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixStream;
    /// # windlass::block_on(async {
    /// let (a, _b) = UnixStream::pair()?;
    /// let peer = a.peer_cred()?;
    /// println!("user {}, group {}", peer.uid(), peer.gid());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn peer_cred(&self) -> io::Result<Credentials> {
        sys::peer_credentials(sys::descriptor(self))
    }

    buffer_methods!();
    socket_methods!();
}

// A read stops early, although more bytes follow, where the sender changes or descriptors were passed.
impl_duplex!(UnixStream, local::UnixStream, SHORT_READ_DRAINS = false);
halves::addresses!(UnixStream, SocketAddr);

/// The credentials of a process; see [`UnixStream::peer_cred`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    uid: u32,
    gid: u32,
    pid: Option<i32>,
}

impl Credentials {
    pub(crate) fn new(uid: u32, gid: u32, pid: Option<i32>) -> Self {
        Self { uid, gid, pid }
    }

    /// Returns the user's id.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixStream;
    /// # windlass::block_on(async {
    /// let (a, _b) = UnixStream::pair()?;
    /// let peer = a.peer_cred()?;
    /// println!("user {}", peer.uid());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Returns the group's id.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixStream;
    /// # windlass::block_on(async {
    /// let (a, _b) = UnixStream::pair()?;
    /// let peer = a.peer_cred()?;
    /// println!("group {}", peer.gid());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// Returns the process's id, where the OS reports it.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::unix::UnixStream;
    /// # windlass::block_on(async {
    /// let (a, _b) = UnixStream::pair()?;
    /// let peer = a.peer_cred()?;
    /// if let Some(pid) = peer.pid() {
    ///     assert_eq!(pid as u32, std::process::id());
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }
}
