//! Waiting for readiness, and performing operations that have no method, for all sockets and pipes.

use windlass_runtime::io::Direction;

/// The readiness that an operation waits for; see `try_io` and `async_io` of sockets and pipes.
///
/// # Examples
///
/// A system call that has no method of its own:
///
/// ```
/// use std::io::Read;
/// use std::net::{TcpListener, TcpStream};
/// use windlass::net::Interest;
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0")?;
/// let client = TcpStream::connect(listener.local_addr()?)?;
/// let server = windlass::net::TcpStream::from_std(listener.accept()?.0)?;
/// // For what std can do and windlass has no method for.
/// let duplicate = client.try_clone()?;
/// let client = windlass::net::TcpStream::from_std(client)?;
/// server.write_all(b"hello").await?;
/// let mut buf = [0; 16];
/// let n = client.async_io(Interest::READABLE, || (&duplicate).read(&mut buf)).await?;
/// assert_eq!(&buf[..n], b"hello");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(Direction);

impl Interest {
    /// There is data, a connection, or the end of the stream.
    pub const READABLE: Self = Self(Direction::Read);
    /// There is room for data, or an attempt to connect has ended.
    pub const WRITABLE: Self = Self(Direction::Write);

    pub(crate) fn direction(self) -> Direction {
        self.0
    }
}

/// Defines the methods, for a public type around `io: Async<T>`.
macro_rules! readiness_methods {
    () => {
        /// Waits until reading (or accepting) is worth trying; then call a `try_` method.
        ///
        /// Any number of tasks can wait, and all wake up. Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// Returns an error if the runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"hello").await?;
        /// stream.readable().await?;
        /// assert_eq!(stream.try_read(&mut [0; 16])?, 5);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn readable(&self) -> std::io::Result<()> {
            self.io.readable().await
        }

        /// Waits until writing is worth trying; then call a `try_` method.
        ///
        /// Any number of tasks can wait, and all wake up. Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// Returns an error if the runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// stream.writable().await?;
        /// assert_eq!(stream.try_write(b"hello")?, 5);
        /// # peer.read_exact(&mut [0; 5]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn writable(&self) -> std::io::Result<()> {
            self.io.writable().await
        }

        /// Waits until an operation is worth trying, and returns a guard that can perform it or clear the readiness.
        ///
        /// Any number of tasks can wait, and all wake up. Dropping the future, or the guard, loses nothing.
        ///
        /// # Errors
        ///
        /// Returns an error if the runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::net::Interest;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"hello").await?;
        /// let guard = stream.ready(Interest::READABLE).await?;
        /// assert_eq!(guard.try_io(|| stream.try_read(&mut [0; 16]))?, 5);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn ready(
            &self,
            interest: $crate::Interest,
        ) -> std::io::Result<$crate::ReadyGuard<'_>> {
            $crate::ReadyGuard::wait(self.io.registration(), interest).await
        }

        /// Waits until reading is worth trying, for at most `timeout`; otherwise like [`readable`](Self::readable).
        ///
        /// With a time-out of zero it only checks what was reported before, and does not ask the OS. For a deadline on
        /// any other operation, use `timer::timeout`. Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// Returns `TimedOut` when the time is over, or another error if the runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::ErrorKind;
        /// use std::time::Duration;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// let error = stream.readable_timeout(Duration::from_millis(1)).await.unwrap_err();
        /// assert_eq!(error.kind(), ErrorKind::TimedOut);
        /// # drop(peer);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn readable_timeout(&self, timeout: std::time::Duration) -> std::io::Result<()> {
            self.io.readable_timeout(timeout).await
        }

        /// Waits until writing is worth trying, for at most `timeout`; otherwise like [`writable`](Self::writable).
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// Returns `TimedOut` when the time is over, or another error if the runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::time::Duration;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// stream.writable_timeout(Duration::from_secs(5)).await?;
        /// # drop(peer);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn writable_timeout(&self, timeout: std::time::Duration) -> std::io::Result<()> {
            self.io.writable_timeout(timeout).await
        }

        /// Does what [`readable`](Self::readable) does, for poll functions.
        ///
        /// One task at a time can wait this way: the last one that polled. The traits of `futures_io` use the same
        /// place. Other waits on the socket, such as `read`, do not.
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
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// peer.write_all(b"hello").await?;
        /// poll_fn(|cx| stream.poll_readable(cx)).await?;
        /// assert_eq!(stream.try_read(&mut [0; 16])?, 5);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn poll_readable(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.io.poll_readable(cx)
        }

        /// Does what [`writable`](Self::writable) does, for poll functions; see [`poll_readable`](Self::poll_readable).
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
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// poll_fn(|cx| stream.poll_writable(cx)).await?;
        /// # drop(peer);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn poll_writable(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.io.poll_writable(cx)
        }

        /// Performs an operation of your own on the descriptor, once and without waiting: a system call that
        /// has no method here.
        ///
        /// The operation must not block; it has to return `WouldBlock` instead. That result is recorded, so that
        /// [`readable`](Self::readable) and [`writable`](Self::writable) wait for the next event. They do not learn of
        /// an operation that is performed in any other way.
        ///
        /// # Errors
        ///
        /// Returns the operation's error.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::ErrorKind;
        /// use windlass::net::Interest;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// let taken = stream.try_io(Interest::READABLE, || {
        ///     Err::<(), _>(ErrorKind::WouldBlock.into()) // what the system call would return
        /// });
        /// assert_eq!(taken.unwrap_err().kind(), ErrorKind::WouldBlock);
        /// # drop(peer);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_io<R>(
            &self,
            interest: $crate::Interest,
            operation: impl FnOnce() -> std::io::Result<R>,
        ) -> std::io::Result<R> {
            self.io.registration().try_io(interest.direction(), operation)
        }

        /// Performs an operation of your own, and while it returns `WouldBlock`, waits and tries again; otherwise like
        /// [`try_io`](Self::try_io).
        ///
        /// The first try is made at once, before the OS has reported anything. [`Interest`](crate::Interest)
        /// has an example with a real operation.
        ///
        /// Any number of tasks can wait. Dropping the future loses nothing: the operation is
        /// not running while it waits.
        ///
        /// # Errors
        ///
        /// Returns the operation's error, except `WouldBlock` and `Interrupted`, or an error if the runtime shuts down.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::io::ErrorKind;
        /// use windlass::net::Interest;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
        /// # let (stream, _) = listener.accept().await?;
        /// let mut tries = 0;
        /// stream
        ///     .async_io(Interest::WRITABLE, || {
        ///         tries += 1;
        ///         if tries < 3 { Err(ErrorKind::Interrupted.into()) } else { Ok(()) }
        ///     })
        ///     .await?;
        /// assert_eq!(tries, 3);
        /// # drop(peer);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn async_io<R>(
            &self,
            interest: $crate::Interest,
            operation: impl FnMut() -> std::io::Result<R>,
        ) -> std::io::Result<R> {
            self.io.registration().io(interest.direction(), operation).await
        }
    };
}

pub(crate) use readiness_methods;
