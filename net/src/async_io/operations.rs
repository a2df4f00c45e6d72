//! The operations of an [`Async`]: those of the caller, and the traits of futures-io.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use windlass_runtime::io::Direction;

use super::Async;

impl<T> Async<T> {
    /// Performs an operation that needs input. While it returns `WouldBlock`, waits until the
    /// descriptor is readable and tries again.
    ///
    /// Dropping the future loses nothing: the operation is not running while it waits.
    ///
    /// # Errors
    ///
    /// Returns the operation's error, except `WouldBlock` and `Interrupted`, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::io::{Read, Write};
    /// # use std::net::{TcpListener, TcpStream};
    /// # use windlass::net::Async;
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut peer = TcpStream::connect(listener.local_addr()?)?;
    /// # let stream = listener.accept()?.0;
    /// # let stream = Async::new(stream)?;
    /// peer.write_all(b"hello")?;
    /// let n = stream.read_with(|mut io| io.read(&mut [0; 16])).await?;
    /// assert_eq!(n, 5);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read_with<R>(&self, mut op: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration.io(Direction::Read, || op(&self.io)).await
    }

    /// Performs an operation that needs room for output. While it returns `WouldBlock`, waits until the descriptor is
    /// writable and tries again.
    ///
    /// Dropping the future loses nothing: the operation is not running while it waits.
    ///
    /// # Errors
    ///
    /// Returns the operation's error, except `WouldBlock` and `Interrupted`, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::io::{Read, Write};
    /// # use std::net::{TcpListener, TcpStream};
    /// # use windlass::net::Async;
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut peer = TcpStream::connect(listener.local_addr()?)?;
    /// # let stream = listener.accept()?.0;
    /// # let stream = Async::new(stream)?;
    /// let n = stream.write_with(|mut io| io.write(b"hello")).await?;
    /// assert_eq!(n, 5);
    /// # peer.read_exact(&mut [0; 5])?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn write_with<R>(&self, mut op: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration.io(Direction::Write, || op(&self.io)).await
    }

    /// Performs an operation that needs input once, without waiting.
    ///
    /// # Errors
    ///
    /// Returns the operation's error. After a `WouldBlock`, [`readable`](Self::readable) waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// # use std::io::{Read, Write};
    /// # use std::net::{TcpListener, TcpStream};
    /// # use windlass::net::Async;
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut peer = TcpStream::connect(listener.local_addr()?)?;
    /// # let stream = listener.accept()?.0;
    /// # let stream = Async::new(stream)?;
    /// let read = stream.try_read_with(|mut io| io.read(&mut [0; 16]));
    /// assert_eq!(read.unwrap_err().kind(), ErrorKind::WouldBlock);
    /// # peer.write_all(b"x")?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_read_with<R>(&self, op: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration.try_io(Direction::Read, || op(&self.io))
    }

    /// Performs an operation that needs room for output once, without waiting.
    ///
    /// # Errors
    ///
    /// Returns the operation's error. After a `WouldBlock`, [`writable`](Self::writable) waits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::io::{Read, Write};
    /// # use std::net::{TcpListener, TcpStream};
    /// # use windlass::net::Async;
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut peer = TcpStream::connect(listener.local_addr()?)?;
    /// # let stream = listener.accept()?.0;
    /// # let stream = Async::new(stream)?;
    /// assert_eq!(stream.try_write_with(|mut io| io.write(b"hello"))?, 5);
    /// # peer.read_exact(&mut [0; 5])?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_write_with<R>(&self, op: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration.try_io(Direction::Write, || op(&self.io))
    }

    /// Does what [`read_with`](Self::read_with) does, for poll functions.
    ///
    /// One task at a time can wait this way: the last one that polled.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`read_with`](Self::read_with).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// # use std::io::{Read, Write};
    /// # use std::net::{TcpListener, TcpStream};
    /// # use windlass::net::Async;
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut peer = TcpStream::connect(listener.local_addr()?)?;
    /// # let stream = listener.accept()?.0;
    /// # let stream = Async::new(stream)?;
    /// peer.write_all(b"hello")?;
    /// let n = poll_fn(|cx| stream.poll_read_with(cx, |mut io| io.read(&mut [0; 16]))).await?;
    /// assert_eq!(n, 5);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_read_with<R>(
        &self,
        cx: &mut Context<'_>,
        mut op: impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.registration.poll_io(Direction::Read, cx, || op(&self.io))
    }

    /// Does what [`write_with`](Self::write_with) does, for poll functions.
    ///
    /// One task at a time can wait this way: the last one that polled.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write_with`](Self::write_with).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::future::poll_fn;
    ///
    /// # use std::io::{Read, Write};
    /// # use std::net::{TcpListener, TcpStream};
    /// # use windlass::net::Async;
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut peer = TcpStream::connect(listener.local_addr()?)?;
    /// # let stream = listener.accept()?.0;
    /// # let stream = Async::new(stream)?;
    /// let n = poll_fn(|cx| stream.poll_write_with(cx, |mut io| io.write(b"hello"))).await?;
    /// assert_eq!(n, 5);
    /// # peer.read_exact(&mut [0; 5])?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_write_with<R>(
        &self,
        cx: &mut Context<'_>,
        mut op: impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.registration.poll_io(Direction::Write, cx, || op(&self.io))
    }
}

/// Implements both traits, for `Async<T>` and for a reference to it.
macro_rules! poll_traits {
    ($type:ty) => {
        impl<T> AsyncRead for $type
        where
            for<'a> &'a T: Read,
        {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                self.poll_read_with(cx, |mut io| io.read(buf))
            }

            fn poll_read_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &mut [IoSliceMut<'_>],
            ) -> Poll<io::Result<usize>> {
                self.poll_read_with(cx, |mut io| io.read_vectored(bufs))
            }
        }

        /// Closing only flushes: the descriptor is closed when the `Async` is dropped.
        impl<T> AsyncWrite for $type
        where
            for<'a> &'a T: Write,
        {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                self.poll_write_with(cx, |mut io| io.write(buf))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                self.poll_write_with(cx, |mut io| io.write_vectored(bufs))
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_write_with(cx, |mut io| io.flush())
            }

            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                self.poll_flush(cx)
            }
        }
    };
}

poll_traits!(Async<T>);
poll_traits!(&Async<T>);
