//! Adapts windlass's streams to tokio's traits.
//!
//! The unsafe code here lends the caller's uninitialised buffer to the read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use windlass_net::adapter::{ReadUninit, WriteVectored};

/// Implements tokio's `AsyncRead` and `AsyncWrite` for a windlass stream: a [`TcpStream`](windlass_net::TcpStream), a
/// `UnixStream`, or an owned half of one. Needs no tokio runtime.
///
/// Reads go straight into the caller's buffer, which is not zeroed first, and several buffers are written in one call.
/// One task at a time can wait for a direction: the last one that polled. Shutting down ends the writing direction: the
/// peer sees the end of the stream.
///
/// # Examples
///
/// ```
/// use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
/// use windlass::net::{TcpListener, TcpStream};
/// use windlass_tokio::Io;
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let mut client = Io::new(TcpStream::connect(listener.local_addr()?).await?);
/// let (server, _) = listener.accept().await?;
/// client.write_all(b"first\nsecond\n").await?;
/// client.shutdown().await?;
///
/// let mut lines = BufReader::new(Io::new(server)).lines();
/// assert_eq!(lines.next_line().await?.as_deref(), Some("first"));
/// assert_eq!(lines.next_line().await?.as_deref(), Some("second"));
/// assert_eq!(lines.next_line().await?, None);
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
    /// use windlass_tokio::Io;
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
    /// use windlass_tokio::Io;
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

    /// Returns the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass_tokio::Io;
    ///
    /// let mut io = Io::new(1);
    /// *io.get_mut() += 1;
    /// assert_eq!(io.into_inner(), 2);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }

    /// Returns the stream, without the wrapper. Nothing that was read is lost: the wrapper holds no bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::{TcpListener, TcpStream};
    /// use windlass_tokio::Io;
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

impl<T: ReadUninit + Unpin> AsyncRead for Io<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: a read initialises bytes and never takes that back.
        let room = unsafe { buf.unfilled_mut() };
        let count = ready!(self.0.poll_read_uninit(cx, room))?.len();
        // SAFETY: the bytes that the read has returned are the first of `room`.
        unsafe { buf.assume_init(count) };
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<T: WriteVectored> AsyncWrite for Io<T> {
    windlass_net::forward_writes!();
}
