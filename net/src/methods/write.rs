//! The methods and the trait for writing to a byte stream, written once for all streams.

/// Defines the methods for writing, for a type with a method `io()` that returns an `Async<T: ByteIo>`.
macro_rules! write_methods {
    () => {
        /// Writes some bytes, and returns their number: at least one, and as many as there is room for.
        ///
        /// With an empty `buf` the call does nothing and never waits.
        ///
        /// If the future is dropped before it returns, nothing was written.
        ///
        /// # Errors
        ///
        /// Returns `BrokenPipe` if the peer has closed the stream, or another error of the OS, or an error if the
        /// runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// let mut left = &b"a message"[..];
        /// while !left.is_empty() {
        ///     let n = stream.write(left).await?;
        ///     left = &left[n..];
        /// }
        /// # peer.read_exact(&mut [0; 9]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn write(&self, buf: &[u8]) -> io::Result<usize> {
            self.io().write(buf).await
        }

        /// Writes from several buffers, one after the other; otherwise like [`write`](Self::write).
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`write`](Self::write).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::IoSlice;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// let message = [IoSlice::new(b"header: "), IoSlice::new(b"value")];
        /// assert_eq!(stream.write_vectored(&message).await?, 13);
        /// # peer.read_exact(&mut [0; 13]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
            self.io().write_vectored(bufs).await
        }

        /// Writes all of `buf`.
        ///
        /// This waits for as long as the peer does not read. Put a time-out around it if the peer is not trusted.
        ///
        /// A dropped future may have written a first part, and does not tell how much. To be able to continue, call
        /// [`write`](Self::write) in a loop. If two tasks call `write_all` at the same time, their bytes may
        /// interleave.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`write`](Self::write).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::time::Duration;
        /// use windlass::timer::timeout;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// let writing = stream.write_all(b"a message");
        /// timeout(Duration::from_secs(10), writing).await??;
        /// # peer.read_exact(&mut [0; 9]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
            self.io().write_all(buf).await
        }

        /// Writes without waiting; otherwise like [`write`](Self::write).
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is no room now; after that, `writable` waits.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// assert_eq!(stream.try_write(b"a message")?, 9);
        /// # peer.read_exact(&mut [0; 9]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
            self.io().try_write(buf)
        }

        /// Does what [`write_vectored`](Self::write_vectored) does, without waiting.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`try_write`](Self::try_write).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::IoSlice;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// let message = [IoSlice::new(b"header: "), IoSlice::new(b"value")];
        /// assert_eq!(stream.try_write_vectored(&message)?, 13);
        /// # peer.read_exact(&mut [0; 13]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
            self.io().try_write_vectored(bufs)
        }
    };
}

/// Implements `AsyncWrite` for a byte stream. One task at a time can wait through it: the last one that polled.
macro_rules! impl_async_write {
    ([$($generics:tt)*] $type:ty) => {
        /// Closing shuts the direction down: the peer sees the end of the stream. A pipe can't be closed this way:
        /// its reader sees the end when the sender is dropped.
        impl<$($generics)*> futures_io::AsyncWrite for $type {
            fn poll_write(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io().poll_write(cx, buf)
            }

            fn poll_write_vectored(
                self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bufs: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                self.io().poll_write_vectored(cx, bufs)
            }

            fn poll_flush(
                self: std::pin::Pin<&mut Self>,
                _cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(Ok(()))
            }

            fn poll_close(
                self: std::pin::Pin<&mut Self>,
                _cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                std::task::Poll::Ready(self.io().close())
            }
        }
    };
}

pub(crate) use {impl_async_write, write_methods};
