//! Waiting until a descriptor is ready.

use std::io;
use std::task::{Context, Poll};
use std::time::Duration;

use windlass_runtime::io::Direction;
use windlass_runtime::timer;

use super::Async;
use crate::{Interest, ReadyGuard};

impl<T> Async<T> {
    /// Waits until reading is worth trying: there is data, a connection, the end or an error.
    ///
    /// Another task may be faster, so the read may still return `WouldBlock`. Perform it through
    /// [`try_read_with`](Self::try_read_with); otherwise the next wait does not learn of that.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
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
    /// stream.readable().await?;
    /// assert_eq!(stream.try_read_with(|mut io| io.read(&mut [0; 16]))?, 5);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn readable(&self) -> io::Result<()> {
        self.registration.reported(Direction::Read).await.map(drop)
    }

    /// Waits until writing is worth trying; see [`readable`](Self::readable).
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
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
    /// stream.writable().await?;
    /// assert_eq!(stream.try_write_with(|mut io| io.write(b"hello"))?, 5);
    /// # peer.read_exact(&mut [0; 5])?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn writable(&self) -> io::Result<()> {
        self.registration.reported(Direction::Write).await.map(drop)
    }

    /// Waits until an operation is worth trying, and returns a guard that can perform it or clear the readiness.
    ///
    /// Dropping the future, or the guard, loses nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use std::io::{Read, Write};
    /// # use std::net::{TcpListener, TcpStream};
    /// # use windlass::net::{Async, Interest};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut peer = TcpStream::connect(listener.local_addr()?)?;
    /// # let stream = listener.accept()?.0;
    /// # let stream = Async::new(stream)?;
    /// peer.write_all(b"hello")?;
    /// let guard = stream.ready(Interest::READABLE).await?;
    /// assert_eq!(guard.try_io(|| stream.get_ref().read(&mut [0; 16]))?, 5);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn ready(&self, interest: Interest) -> io::Result<ReadyGuard<'_>> {
        ReadyGuard::wait(&self.registration, interest).await
    }

    /// Waits until reading is worth trying, for at most `timeout`; otherwise like [`readable`](Self::readable).
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::ErrorKind;
    /// use std::os::unix::net::UnixStream;
    /// use std::time::Duration;
    /// use windlass::net::Async;
    ///
    /// # windlass::block_on(async {
    /// let (ours, _theirs) = UnixStream::pair()?;
    /// let ours = Async::new(ours)?;
    /// let error = ours.readable_timeout(Duration::from_millis(1)).await.unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::TimedOut);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// Returns `TimedOut` when the time is over, or another error if the runtime shuts down.
    pub async fn readable_timeout(&self, timeout: Duration) -> io::Result<()> {
        timer::timeout(timeout, self.readable()).await?
    }

    /// Waits until writing is worth trying, for at most `timeout`; otherwise like [`writable`](Self::writable).
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`readable_timeout`](Self::readable_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// # use std::io::{Read, Write};
    /// # use std::net::{TcpListener, TcpStream};
    /// # use windlass::net::Async;
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0")?;
    /// # let mut peer = TcpStream::connect(listener.local_addr()?)?;
    /// # let stream = listener.accept()?.0;
    /// # let stream = Async::new(stream)?;
    /// stream.writable_timeout(Duration::from_secs(5)).await?;
    /// # peer.write_all(b"x")?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn writable_timeout(&self, timeout: Duration) -> io::Result<()> {
        timer::timeout(timeout, self.writable()).await?
    }

    /// Does what [`readable`](Self::readable) does, for poll functions.
    ///
    /// One task at a time can wait this way: the last one that polled.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
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
    /// poll_fn(|cx| stream.poll_readable(cx)).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registration.poll_reported(Direction::Read, cx).map_ok(drop)
    }

    /// Does what [`writable`](Self::writable) does, for poll functions.
    ///
    /// One task at a time can wait this way: the last one that polled.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
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
    /// poll_fn(|cx| stream.poll_writable(cx)).await?;
    /// # peer.write_all(b"x")?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registration.poll_reported(Direction::Write, cx).map_ok(drop)
    }
}
