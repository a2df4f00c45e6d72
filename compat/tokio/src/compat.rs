//! Adapts the I/O traits of `futures-io` to those of tokio, and back.

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use tokio::io::ReadBuf;

pin_project! {
    /// Adds the other library's I/O traits to a stream: tokio's to a `futures-io` stream, and those of `futures-io` to
    /// a tokio stream. Needs no tokio runtime.
    ///
    /// For windlass's own streams use [`Io`](crate::Io), which does not zero the buffers it reads into.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_lite::AsyncReadExt;
    /// use windlass_tokio::CompatExt;
    ///
    /// # futures_lite::future::block_on(async {
    /// // A stream of tokio's, read with the methods of futures-lite.
    /// let (mut client, server) = tokio::io::duplex(64);
    /// tokio::io::AsyncWriteExt::write_all(&mut client, b"hello").await?;
    /// drop(client);
    /// let mut text = String::new();
    /// server.compat().read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    #[derive(Debug)]
    pub struct Compat<T> {
        #[pin]
        inner: T,
        // The seek that is under way, and has been begun if the stream is one of tokio's.
        seeking: Option<SeekFrom>,
    }
}

impl<T> Compat<T> {
    /// Wraps a stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_lite::AsyncReadExt;
    /// use windlass_tokio::Compat;
    ///
    /// # futures_lite::future::block_on(async {
    /// let tokios: &[u8] = b"hello";
    /// let mut text = String::new();
    /// Compat::new(tokios).read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn new(stream: T) -> Self {
        Self { inner: stream, seeking: None }
    }

    /// Returns the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// let stream = windlass_tokio::Compat::new(&b"hello"[..]);
    /// assert_eq!(stream.get_ref().len(), 5);
    /// ```
    pub fn get_ref(&self) -> &T {
        &self.inner
    }

    /// Returns the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// let mut stream = windlass_tokio::Compat::new(&b"hello"[..]);
    /// *stream.get_mut() = b"world";
    /// assert_eq!(stream.into_inner(), b"world");
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the stream, pinned.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// let mut stream = pin!(windlass_tokio::Compat::new(&b"hello"[..]));
    /// assert_eq!(stream.as_mut().get_pin_mut().len(), 5);
    /// ```
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut T> {
        self.project().inner
    }

    /// Returns a stream of tokio's for something other than a seek, so that one that was given up is not continued later.
    fn after_seek(self: Pin<&mut Self>) -> Pin<&mut T> {
        let this = self.project();
        *this.seeking = None;
        this.inner
    }

    /// Returns the stream, without the wrapper. Nothing that was read is lost: the wrapper holds no bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// let stream = windlass_tokio::Compat::new(&b"hello"[..]);
    /// assert_eq!(stream.into_inner(), b"hello");
    /// ```
    pub fn into_inner(self) -> T {
        self.inner
    }
}

/// Wraps streams in [`Compat`].
pub trait CompatExt: Sized {
    /// Wraps the stream, which gives it the other library's I/O traits.
    fn compat(self) -> Compat<Self> {
        Compat::new(self)
    }
}

impl<T> CompatExt for T {}

impl<T: futures_io::AsyncRead> tokio::io::AsyncRead for Compat<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = buf.initialize_unfilled();
        let count = ready!(self.project().inner.poll_read(cx, room))?;
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl<T: futures_io::AsyncBufRead> tokio::io::AsyncBufRead for Compat<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.project().inner.consume(count);
    }
}

impl<T: futures_io::AsyncWrite> tokio::io::AsyncWrite for Compat<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().inner.poll_write_vectored(cx, buffers)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_close(cx)
    }
}

impl<T: futures_io::AsyncSeek> tokio::io::AsyncSeek for Compat<T> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        *self.project().seeking = Some(position);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let this = self.project();
        // tokio also asks before it begins, for the end of an earlier seek. There is none, and it ignores the answer.
        let Some(position) = *this.seeking else { return Poll::Ready(Ok(0)) };
        let reached = ready!(this.inner.poll_seek(cx, position));
        *this.seeking = None;
        Poll::Ready(reached)
    }
}

impl<T: tokio::io::AsyncRead> futures_io::AsyncRead for Compat<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut buf = ReadBuf::new(bytes);
        ready!(self.after_seek().poll_read(cx, &mut buf))?;
        Poll::Ready(Ok(buf.filled().len()))
    }
}

impl<T: tokio::io::AsyncBufRead> futures_io::AsyncBufRead for Compat<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.after_seek().poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        self.after_seek().consume(count);
    }
}

impl<T: tokio::io::AsyncWrite> futures_io::AsyncWrite for Compat<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.after_seek().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.after_seek().poll_write_vectored(cx, buffers)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }
}

impl<T: tokio::io::AsyncSeek> futures_io::AsyncSeek for Compat<T> {
    fn poll_seek(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        position: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        let mut this = self.project();
        if *this.seeking != Some(position) {
            // One that was given up must end before the next begins.
            ready!(this.inner.as_mut().poll_complete(cx))?;
            this.inner.as_mut().start_seek(position)?;
            *this.seeking = Some(position);
        }
        let reached = ready!(this.inner.poll_complete(cx));
        *this.seeking = None;
        Poll::Ready(reached)
    }
}
