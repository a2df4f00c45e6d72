//! Any non-blocking descriptor, made awaitable. Every type of this crate has one inside.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use windlass_runtime::io::{Descriptor, Direction, Registration};
use windlass_runtime::timer;

use crate::sys::{self, AsDescriptor};

/// Makes the operations of any pollable descriptor awaitable: a socket of a kind this crate has no
/// type for, a terminal, a timer, the descriptor of a C library.
///
/// `T` does the operations, without blocking; this waits when they would block. Any number of tasks
/// may use it at a time; an event wakes all that wait for its direction, and who comes too late waits
/// again.
///
/// The descriptor is registered with the runtime that is current when this is made, and stays with
/// it: when that runtime shuts down, waiting ends with an error.
///
/// Connect a TCP socket before it comes in here: to the OS one that is not connected counts as hung up, and so as
/// writable. And a FIFO that nobody has opened for writing yet reads as if it had ended: await
/// [`readable`](Self::readable) before the first read, or use `unix::pipe::Receiver`, which does.
///
/// Where `&T` is [`Read`] or [`Write`], this is [`AsyncRead`] or [`AsyncWrite`]. By way of these
/// traits (and `poll_*` functions) one task at a time can wait for a direction: the last that polled.
///
/// # Examples
///
/// ```
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
/// use windlass::net::Async;
///
/// # windlass::block_on(async {
/// let (ours, mut theirs) = UnixStream::pair()?;
/// let ours = Async::new(ours)?;
/// theirs.write_all(b"hello")?;
/// let mut buf = [0; 16];
/// let n = ours.read_with(|mut stream| stream.read(&mut buf)).await?;
/// assert_eq!(&buf[..n], b"hello");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct Async<T> {
    // Above `io`, for it has to go before the descriptor is closed.
    registration: Registration,
    io: T,
}

impl<T: AsDescriptor> Async<T> {
    /// Puts the descriptor into non-blocking mode and registers it with the current runtime, or with
    /// the global one outside of any.
    ///
    /// The mode belongs to the open file and not to the descriptor: whoever shares it (a duplicate,
    /// another process that has the same terminal) will see it non-blocking too.
    ///
    /// # Errors
    ///
    /// If the OS cannot tell when it is ready, as with regular files (those never say that they would
    /// block; use [`spawn_blocking`](windlass_runtime::spawn_blocking)), or if it is registered with
    /// this runtime already. `io` is dropped then.
    pub fn new(io: T) -> io::Result<Self> {
        sys::set_nonblocking(sys::descriptor(&io))?;
        Self::new_nonblocking(io)
    }

    /// As [`new`](Self::new), for a descriptor that is known to be in non-blocking mode. If it is
    /// not, operations block their worker.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn new_nonblocking(io: T) -> io::Result<Self> {
        Self::registered(io, Registration::new)
    }

    /// As [`new_nonblocking`](Self::new_nonblocking), for a connection on which nothing was sent yet, which is
    /// writable.
    pub(crate) fn new_writable(io: T) -> io::Result<Self> {
        Self::registered(io, Registration::writable)
    }

    /// As [`new`](Self::new), for what is tried only after the OS has reported something.
    #[allow(dead_code, reason = "pipes, which use it, are not everywhere")]
    pub(crate) fn new_unready(io: T) -> io::Result<Self> {
        sys::set_nonblocking(sys::descriptor(&io))?;
        Self::registered(io, Registration::unready)
    }

    fn registered(
        io: T,
        register: impl FnOnce(Descriptor<'_>) -> io::Result<Registration>,
    ) -> io::Result<Self> {
        let registration = register(sys::descriptor(&io)).map_err(sys::explain)?;
        Ok(Self { registration, io })
    }
}

impl<T> Async<T> {
    /// What does the operations.
    pub fn get_ref(&self) -> &T {
        &self.io
    }

    /// What does the operations. Do not put another descriptor in its place: the registration stays
    /// with the old one.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.io
    }

    /// Ends the registration. The descriptor stays in non-blocking mode.
    pub fn into_inner(self) -> T {
        let Self { registration, io } = self;
        drop(registration);
        io
    }

    /// Waits until reading is worth trying: there is data, a connection, the end or an error. Another
    /// task may be quicker, so the read may say `WouldBlock` all the same; do it by
    /// [`try_read_with`](Self::try_read_with), or the next wait will not know of that.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// If the runtime shuts down.
    pub async fn readable(&self) -> io::Result<()> {
        self.registration.reported(Direction::Read).await.map(drop)
    }

    /// Waits until writing is worth trying; see [`readable`](Self::readable).
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// If the runtime shuts down.
    pub async fn writable(&self) -> io::Result<()> {
        self.registration.reported(Direction::Write).await.map(drop)
    }

    /// As [`readable`](Self::readable), but for no longer than `timeout`. Dropping the future loses
    /// nothing.
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
    /// `TimedOut` when the time is over; another if the runtime shuts down.
    pub async fn readable_timeout(&self, timeout: Duration) -> io::Result<()> {
        timer::timeout(timeout, self.readable()).await?
    }

    /// As [`writable`](Self::writable), but for no longer than `timeout`. Dropping the future loses
    /// nothing.
    ///
    /// # Errors
    ///
    /// As for [`readable_timeout`](Self::readable_timeout).
    pub async fn writable_timeout(&self, timeout: Duration) -> io::Result<()> {
        timer::timeout(timeout, self.writable()).await?
    }

    /// As [`readable`](Self::readable), for poll functions. One task at a time: the last that polled.
    ///
    /// # Errors
    ///
    /// If the runtime shuts down.
    pub fn poll_readable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registration.poll_reported(Direction::Read, cx).map_ok(drop)
    }

    /// As [`writable`](Self::writable), for poll functions. One task at a time: the last that polled.
    ///
    /// # Errors
    ///
    /// If the runtime shuts down.
    pub fn poll_writable(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.registration.poll_reported(Direction::Write, cx).map_ok(drop)
    }

    /// Does an operation that waits for input. While it says `WouldBlock`, waits for the descriptor
    /// to get readable and does it again.
    ///
    /// Dropping the future loses nothing: the operation is not under way while it waits.
    ///
    /// # Errors
    ///
    /// What the operation says (except `WouldBlock` and `Interrupted`), or if the runtime shuts down.
    pub async fn read_with<R>(&self, mut op: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration.io(Direction::Read, || op(&self.io)).await
    }

    /// Does an operation that waits for room for output. While it says `WouldBlock`, waits for the
    /// descriptor to get writable and does it again.
    ///
    /// Dropping the future loses nothing: the operation is not under way while it waits.
    ///
    /// # Errors
    ///
    /// What the operation says (except `WouldBlock` and `Interrupted`), or if the runtime shuts down.
    pub async fn write_with<R>(&self, mut op: impl FnMut(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration.io(Direction::Write, || op(&self.io)).await
    }

    /// Does an operation that waits for input once.
    ///
    /// # Errors
    ///
    /// What the operation says. After a `WouldBlock`, [`readable`](Self::readable) waits.
    pub fn try_read_with<R>(&self, op: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration.try_io(Direction::Read, || op(&self.io))
    }

    /// Does an operation that waits for room for output once.
    ///
    /// # Errors
    ///
    /// What the operation says. After a `WouldBlock`, [`writable`](Self::writable) waits.
    pub fn try_write_with<R>(&self, op: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        self.registration.try_io(Direction::Write, || op(&self.io))
    }

    /// As [`read_with`](Self::read_with), for poll functions. One task at a time: the last that
    /// polled.
    ///
    /// # Errors
    ///
    /// As for [`read_with`](Self::read_with).
    pub fn poll_read_with<R>(
        &self,
        cx: &mut Context<'_>,
        mut op: impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.registration.poll_io(Direction::Read, cx, || op(&self.io))
    }

    /// As [`write_with`](Self::write_with), for poll functions. One task at a time: the last that
    /// polled.
    ///
    /// # Errors
    ///
    /// As for [`write_with`](Self::write_with).
    pub fn poll_write_with<R>(
        &self,
        cx: &mut Context<'_>,
        mut op: impl FnMut(&T) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.registration.poll_io(Direction::Write, cx, || op(&self.io))
    }

    /// Takes a connection of a listener. Where each is reported by itself, that uses up what is known.
    pub(crate) fn accept_with<R>(&self, next: impl FnOnce(&T) -> io::Result<R>) -> io::Result<R> {
        let seen = self.registration.seen(Direction::Read);
        let result = next(&self.io);
        if sys::CONNECTIONS_REPORTED_ONE_BY_ONE && result.is_ok() {
            self.registration.clear(Direction::Read, seen);
        }
        result
    }

    pub(crate) fn registration(&self) -> &Registration {
        &self.registration
    }
}

impl<T: fmt::Debug> fmt::Debug for Async<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Async").field(&self.io).finish()
    }
}

/// Both traits, for `Async<T>` and for a reference to it.
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

        /// Closing flushes and does no more: the descriptor is closed when the `Async` is dropped.
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
