//! A guard for readiness that the OS has reported.

use std::io;

use windlass_runtime::io::{Registration, Seen};

use crate::Interest;

/// Readiness that the OS has reported, and that lasts until an operation would block.
///
/// It is returned by `ready` of sockets, pipes and [`Async`](crate::Async), and corresponds to tokio's
/// `AsyncFdReadyGuard`. Perform the operation with [`try_io`](Self::try_io), or in another way and then call
/// [`clear`](Self::clear) if it would block. Dropping the guard keeps the readiness: the next wait returns at once.
///
/// # Examples
///
/// A library reads from the descriptor by itself, and reports when nothing is left:
///
/// ```
/// use std::io::{ErrorKind, Read};
/// use windlass::net::{Async, Interest};
/// # use std::io::Write;
/// # use std::net::{TcpListener, TcpStream};
///
/// # windlass::block_on(async {
/// # let listener = TcpListener::bind("127.0.0.1:0")?;
/// # let mut peer = TcpStream::connect(listener.local_addr()?)?;
/// let stream = Async::new(listener.accept()?.0)?;
/// # peer.write_all(b"hello")?;
/// let mut received = 0;
/// while received < 5 {
///     let guard = stream.ready(Interest::READABLE).await?;
///     match stream.get_ref().read(&mut [0; 2]) {
///         Ok(count) => received += count,
///         Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear(),
///         Err(error) => return Err(error),
///     }
/// }
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "without a look at it, use `readable` or `writable`"]
#[derive(Debug)]
pub struct ReadyGuard<'a> {
    registration: &'a Registration,
    interest: Interest,
    seen: Seen,
}

impl<'a> ReadyGuard<'a> {
    pub(crate) async fn wait(
        registration: &'a Registration,
        interest: Interest,
    ) -> io::Result<Self> {
        let seen = registration.reported(interest.direction()).await?;
        Ok(Self { registration, interest, seen })
    }

    /// Returns the interest that was waited for.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::{Interest, UdpSocket};
    ///
    /// # windlass::block_on(async {
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert_eq!(socket.ready(Interest::WRITABLE).await?.interest(), Interest::WRITABLE);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn interest(&self) -> Interest {
        self.interest
    }

    /// Performs an operation once. If it returns `WouldBlock`, the next wait is for the next event.
    ///
    /// # Errors
    ///
    /// Returns the operation's error.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::{Interest, UdpSocket};
    ///
    /// # windlass::block_on(async {
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// let guard = socket.ready(Interest::WRITABLE).await?;
    /// guard.try_io(|| Ok(()))?; // a system call that writes
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_io<R>(&self, operation: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.registration.try_io(self.interest.direction(), operation)
    }

    /// Records that this readiness is used up, because an operation would block. Anything that the OS has reported
    /// since the guard was returned is kept.
    ///
    /// Call it only if an operation would block. Otherwise the next wait is for an event that may never come.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::{Interest, UdpSocket};
    ///
    /// # windlass::block_on(async {
    /// # let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// # let peer = UdpSocket::bind("127.0.0.1:0").await?;
    /// # peer.send_to(b"x", socket.local_addr()?).await?;
    /// let guard = socket.ready(Interest::READABLE).await?;
    /// while socket.try_recv(&mut [0; 16]).is_ok() {}
    /// guard.clear();
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn clear(self) {
        self.registration.clear(self.interest.direction(), self.seen);
    }
}
