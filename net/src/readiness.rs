//! Waiting for readiness, and operations that this crate has no method for: what all sockets and pipes have.

use windlass_runtime::io::Direction;

/// What an operation waits for: see `try_io` and `async_io` of sockets and pipes.
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
    /// Data, a connection, or the end of the stream.
    pub const READABLE: Self = Self(Direction::Read);
    /// Room for data, or the outcome of an attempt to connect.
    pub const WRITABLE: Self = Self(Direction::Write);

    pub(crate) fn direction(self) -> Direction {
        self.0
    }
}

/// For a public type around `io: Async<T>`.
macro_rules! readiness_methods {
    () => {
        /// Waits until reading (or accepting) is worth trying; then use a `try_` method. Any
        /// number of tasks may wait, and all wake.
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// If the runtime shuts down.
        pub async fn readable(&self) -> std::io::Result<()> {
            self.io.readable().await
        }

        /// Waits until writing is worth trying; then use a `try_` method. Any number of tasks may
        /// wait, and all wake.
        ///
        /// Dropping the future loses nothing.
        ///
        /// # Errors
        ///
        /// If the runtime shuts down.
        pub async fn writable(&self) -> std::io::Result<()> {
            self.io.writable().await
        }

        /// As [`readable`](Self::readable), but for no longer than `timeout`. For a deadline on any
        /// other operation, use `timer::timeout`. Dropping the future loses nothing. With a time of zero
        /// it tells what has been reported before, and does not ask the OS.
        ///
        /// # Errors
        ///
        /// `TimedOut` when the time is over; another if the runtime shuts down.
        pub async fn readable_timeout(&self, timeout: std::time::Duration) -> std::io::Result<()> {
            self.io.readable_timeout(timeout).await
        }

        /// As [`writable`](Self::writable), but for no longer than `timeout`. Dropping the future loses
        /// nothing.
        ///
        /// # Errors
        ///
        /// `TimedOut` when the time is over; another if the runtime shuts down.
        pub async fn writable_timeout(&self, timeout: std::time::Duration) -> std::io::Result<()> {
            self.io.writable_timeout(timeout).await
        }
        /// As [`readable`](Self::readable), for poll functions. One task at a time can wait this way: the last that
        /// polled. A socket's other waits, `read` and the like, are not disturbed by it, but for those of
        /// `futures_io`'s traits, which are one and the same with it.
        ///
        /// # Errors
        ///
        /// If the runtime shuts down.
        pub fn poll_readable(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.io.poll_readable(cx)
        }

        /// As [`writable`](Self::writable), for poll functions. See [`poll_readable`](Self::poll_readable).
        ///
        /// # Errors
        ///
        /// If the runtime shuts down.
        pub fn poll_writable(
            &self,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            self.io.poll_writable(cx)
        }

        /// Does an operation of your own on the descriptor, once and without waiting: a system call that has no method
        /// here. It must not block, and says `WouldBlock` when it would. That is remembered, so that
        /// [`readable`](Self::readable) and [`writable`](Self::writable) wait for what comes next; an operation that is
        /// done in another way leaves them in the dark.
        ///
        /// # Errors
        ///
        /// What the operation says.
        pub fn try_io<R>(
            &self,
            interest: $crate::Interest,
            operation: impl FnOnce() -> std::io::Result<R>,
        ) -> std::io::Result<R> {
            self.io.registration().try_io(interest.direction(), operation)
        }

        /// As [`try_io`](Self::try_io), but while the operation says `WouldBlock`, waits until it is worth trying again.
        /// It is tried at once, before the OS has said anything.
        ///
        /// Dropping the future loses nothing: the operation is not under way while it waits. Any number of tasks may
        /// wait.
        ///
        /// # Errors
        ///
        /// What the operation says (except `WouldBlock` and `Interrupted`), or if the runtime shuts down.
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
