//! Adapts other libraries' streams to hyper's traits.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};
use hyper::rt::{Read, ReadBufCursor, Write};

/// Implements hyper's I/O traits for any stream with those of futures-io, such as a TLS stream.
///
/// For sockets of windlass, [`Io`](crate::Io) saves zeroing hyper's buffer.
///
/// # Examples
///
/// ```
/// use windlass_hyper::FuturesIo;
///
/// fn served_by_hyper<S>(tls: S) -> impl hyper::rt::Read + hyper::rt::Write
/// where
///     S: futures_io::AsyncRead + futures_io::AsyncWrite + Unpin,
/// {
///     FuturesIo::new(tls)
/// }
/// ```
#[derive(Debug)]
pub struct FuturesIo<T>(T);

impl<T> FuturesIo<T> {
    /// Wraps a stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass_hyper::FuturesIo;
    ///
    /// let bytes: &[u8] = b"HTTP/1.1 200 OK";
    /// let io = FuturesIo::new(bytes);
    /// # drop(io);
    /// ```
    pub fn new(stream: T) -> Self {
        Self(stream)
    }

    /// Returns the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// let io = windlass_hyper::FuturesIo::new(&b"HTTP/1.1 200 OK"[..]);
    /// assert_eq!(io.get_ref().len(), 15);
    /// ```
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// Returns the stream. No bytes are lost, because the wrapper holds none.
    ///
    /// # Examples
    ///
    /// ```
    /// let io = windlass_hyper::FuturesIo::new(&b"HTTP/1.1 200 OK"[..]);
    /// assert_eq!(io.into_inner(), b"HTTP/1.1 200 OK");
    /// ```
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T: AsyncRead + Unpin> Read for FuturesIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let room = cursor.initialize_unfilled();
        let count = ready!(Pin::new(&mut self.0).poll_read(cx, room))?;
        assert!(count <= room.len(), "a stream claims to have read more than there was room for");
        // SAFETY: all of the room is initialised, and there are at least `count` bytes.
        unsafe { cursor.advance(count) };
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> Write for FuturesIo<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}
