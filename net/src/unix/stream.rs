//! A local connection.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::net::Shutdown;
use std::path::Path;

use super::SocketAddr;
use crate::bytes::ByteIo;
use crate::halves::{self, Duplex, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use crate::methods::{
    buffer_methods, impl_async_read, impl_async_write, read_methods, socket_methods, wrapper,
    write_methods,
};
use crate::sys::local;
use crate::{Async, sys};

/// A connection between two processes of this machine, or within one. It is used as a
/// [`TcpStream`](crate::TcpStream) is.
///
/// # Examples
///
/// ```
/// use windlass_net::unix::UnixStream;
///
/// # windlass_runtime::block_on(async {
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

impl UnixStream {
    /// Connects to the listener at `path`.
    ///
    /// It never waits: a listener that has no room in its queue refuses with `WouldBlock`, and the OS
    /// does not tell when there is room. Pause, and try again.
    ///
    /// # Errors
    ///
    /// `NotFound`, `ConnectionRefused`, `WouldBlock` as above, and whatever else the OS says; or if the
    /// runtime is shutting down.
    pub async fn connect<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        Self::connect_addr(&SocketAddr::from_pathname(path)?).await
    }

    /// As [`connect`](Self::connect), to any local address, abstract names among them.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub async fn connect_addr(address: &SocketAddr) -> io::Result<Self> {
        Self::from_nonblocking(sys::connect_local(address)?)
    }

    /// Two streams that are connected to each other.
    ///
    /// # Errors
    ///
    /// If descriptors have run out, or if the runtime is shutting down.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = local::UnixStream::pair()?;
        Ok((Self::from_std(a)?, Self::from_std(b)?))
    }

    fn from_nonblocking(stream: local::UnixStream) -> io::Result<Self> {
        Async::new_nonblocking(stream).map(Self::from_async)
    }

    read_methods!();
    write_methods!();

    /// Ends one direction or both. After `Shutdown::Write` the peer sees the end of the stream and may
    /// still send. Tasks that wait for a direction that has been ended wake.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.get_ref().shutdown(how)
    }

    /// Borrows the directions apart from each other.
    pub fn split(&mut self) -> (ReadHalf<'_, Self>, WriteHalf<'_, Self>) {
        halves::split(self)
    }

    /// Takes the directions apart, for tasks of their own. Dropping the writing half ends its
    /// direction; the socket is closed when both are dropped.
    pub fn into_split(self) -> (OwnedReadHalf<Self>, OwnedWriteHalf<Self>) {
        halves::into_split(self)
    }

    /// The address of this end.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.get_ref().local_addr()
    }

    /// The address of the other end.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.get_ref().peer_addr()
    }

    /// Who the process at the other end belonged to when it connected.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell.
    pub fn peer_cred(&self) -> io::Result<Credentials> {
        sys::peer_credentials(sys::descriptor(self))
    }

    buffer_methods!();
    socket_methods!();
}

impl ByteIo for local::UnixStream {
    // A read stops early, with more to come, where the sender changed or passed descriptors along.
    const SHORT_READ_DRAINS: bool = false;
    const SHORT_WRITE_FILLS: bool = true;

    fn reader(&self) -> impl Read + '_ {
        self
    }

    fn write(&self, buf: &[u8]) -> io::Result<usize> {
        sys::send(sys::descriptor(self), buf)
    }

    fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        sys::send_vectored(sys::descriptor(self), bufs)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.shutdown(how)
    }
}

impl halves::private::Stream for UnixStream {
    type Io = local::UnixStream;

    fn stream_io(&self) -> &Async<local::UnixStream> {
        &self.io
    }
}

impl Duplex for UnixStream {}

impl_async_read!([] UnixStream);
impl_async_read!([] & UnixStream);
impl_async_write!([] UnixStream);
impl_async_write!([] & UnixStream);

/// Who a process belongs to. See [`UnixStream::peer_cred`].
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

    /// The user.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// The group.
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// The process, where the OS tells.
    pub fn pid(&self) -> Option<i32> {
        self.pid
    }
}
