//! Adapts windlass's streams to hyper's traits.
//!
//! The unsafe code here lends hyper's uninitialised buffer to the read, and looks at the bytes that were read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use windlass_net::adapter::{ReadUninit, WriteVectored};

/// Implements hyper's I/O traits for a windlass stream: a [`TcpStream`](windlass_net::TcpStream), a `UnixStream`, or an
/// owned half of one.
///
/// Reads go straight into hyper's buffer, which is not zeroed first, and several buffers are written in one call. One
/// task at a time can wait for a direction: the last one that polled.
///
/// # Examples
///
/// ```
/// use windlass::net::{TcpListener, TcpStream};
/// use windlass_hyper::Io;
///
/// # windlass::block_on(async {
/// # let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let stream = TcpStream::connect(listener.local_addr()?).await?;
/// let (sender, connection) = hyper::client::conn::http1::handshake(Io::new(stream)).await.unwrap();
/// # let sender: hyper::client::conn::http1::SendRequest<String> = sender;
/// # drop((sender, connection));
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Io<T>(T);

impl<T> Io<T> {
    /// Wraps a stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::{TcpListener, TcpStream};
    /// use windlass_hyper::Io;
    ///
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// let io = Io::new(stream);
    /// # drop(io);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn new(stream: T) -> Self {
        Self(stream)
    }

    /// Returns the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::{TcpListener, TcpStream};
    /// use windlass_hyper::Io;
    ///
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// let io = Io::new(stream);
    /// assert!(io.get_ref().peer_addr()?.ip().is_loopback());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// Returns the stream. No bytes are lost, because the wrapper holds none.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::{TcpListener, TcpStream};
    /// use windlass_hyper::Io;
    ///
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// let io = Io::new(stream);
    /// let stream = io.into_inner();
    /// assert!(stream.peer_addr()?.ip().is_loopback());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: ReadUninit> Read for Io<T>
where
    Self: Unpin,
{
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: a read initialises bytes and never takes that back.
        let room = unsafe { cursor.as_mut() };
        let count = ready!(self.0.poll_read_uninit(cx, room))?.len();
        // SAFETY: the bytes that the read has returned are the first of `room`.
        unsafe { cursor.advance(count) };
        Poll::Ready(Ok(()))
    }
}

/// Reads, and passes the bytes to `see`: none at the end of the stream.
#[cfg(feature = "server")]
pub(crate) fn read_seen<R: Read>(
    io: Pin<&mut R>,
    cx: &mut Context<'_>,
    cursor: &mut ReadBufCursor<'_>,
    see: impl FnOnce(&[u8]),
) -> Poll<io::Result<()>> {
    // SAFETY: initialised bytes stay initialised: a `ReadBuf` is filled through a cursor of its own, which has the same
    // contract.
    let room = unsafe { cursor.as_mut() };
    let mut buf = hyper::rt::ReadBuf::uninit(room);
    ready!(io.poll_read(cx, buf.unfilled()))?;
    see(buf.filled());
    let count = buf.filled().len();
    // SAFETY: the filled bytes are the first of `room`.
    unsafe { cursor.advance(count) };
    Poll::Ready(Ok(()))
}

impl<T: WriteVectored> Write for Io<T> {
    windlass_net::forward_writes!();
}
