//! A local connection.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::path::Path;
use std::task::{Context, Poll};

use super::SocketAddr;
use crate::halves::{
    self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf, duplex_methods, impl_duplex,
};
use crate::methods::{buffer_methods, read_methods, socket_methods, wrapper, write_methods};
use crate::sys::local;
use crate::{Async, sys};

/// A connection between two processes of this machine, or within one. It is used as a
/// [`TcpStream`](crate::TcpStream) is.
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

impl UnixStream {
    /// Connects to the listener at `path`.
    ///
    /// It never waits, so there is nothing to cancel: a listener that has no room in its queue refuses with `WouldBlock`, and the OS
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

    duplex_methods!(SocketAddr);

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

// A read stops early, with more to come, where the sender changed or passed descriptors along.
impl_duplex!(UnixStream, local::UnixStream, SHORT_READ_DRAINS = false);

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
