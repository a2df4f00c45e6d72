//! An awaitable wrapper of any non-blocking descriptor, which every type of this crate contains.

mod operations;
mod waits;

use std::fmt;
use std::io;

use windlass_runtime::io::{Descriptor, Direction, Registration};

use crate::sys::{self, AsDescriptor};

/// Makes the operations of any pollable descriptor awaitable: a kind of socket that this crate has no type for, a
/// terminal, a timer, or a descriptor from a C library.
///
/// `T` performs the operations without blocking; `Async` waits when they would block. Any number of tasks can use it at
/// the same time. An event wakes all tasks that wait for its direction. Those that find nothing left wait again.
///
/// The descriptor is registered with the runtime that is current when the `Async` is created. When that runtime shuts
/// down, waiting operations return an error.
///
/// If `&T` implements [`Read`](io::Read) or [`Write`](io::Write), then `Async<T>` implements
/// [`AsyncRead`](futures_io::AsyncRead) or [`AsyncWrite`](futures_io::AsyncWrite). Through these traits and the
/// `poll_*` methods one task at a time can wait for a direction: the last one that polled.
///
/// # Caveats
///
/// Connect a TCP socket before you register it: the OS reports an unconnected one as hung up, and therefore as
/// writable. A FIFO that was never opened for writing reads as if it had ended: await [`readable`](Self::readable)
/// before the first read, or use `unix::pipe::Receiver`, which does that.
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
    // Above `io`, because it must be dropped before the descriptor is closed.
    registration: Registration,
    io: T,
}

impl<T: AsDescriptor> Async<T> {
    /// Puts the descriptor into non-blocking mode, and registers it with the current runtime, or with the global
    /// runtime if there is none.
    ///
    /// The mode belongs to the open file, not to the descriptor. It therefore also changes for duplicates, and for
    /// other processes that share the terminal.
    ///
    /// # Errors
    ///
    /// Returns an error, and drops `io`, if it is registered with this runtime already, or if the OS
    /// cannot tell when it is ready. The latter is the case for regular files; use
    /// [`spawn_blocking`](windlass_runtime::spawn_blocking) for them.
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
    /// let stream = Async::new(stream)?;
    /// # peer.write_all(b"x")?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn new(io: T) -> io::Result<Self> {
        sys::set_nonblocking(sys::descriptor(&io))?;
        Self::new_nonblocking(io)
    }

    /// Registers a descriptor that is already in non-blocking mode; otherwise like [`new`](Self::new).
    ///
    /// If it is not in that mode, operations block their worker.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`new`](Self::new).
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
    /// stream.set_nonblocking(true)?;
    /// let stream = Async::new_nonblocking(stream)?;
    /// # peer.write_all(b"x")?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn new_nonblocking(io: T) -> io::Result<Self> {
        Self::registered(io, Registration::new)
    }

    /// Registers a non-blocking connection on which nothing was sent yet, so that it is writable.
    pub(crate) fn new_writable(io: T) -> io::Result<Self> {
        Self::registered(io, Registration::writable)
    }

    /// Registers a descriptor on which an operation is tried only after the OS has reported an event.
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
    /// Returns a reference to the value that performs the operations.
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
    /// println!("{}", stream.get_ref().peer_addr()?);
    /// # peer.write_all(b"x")?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn get_ref(&self) -> &T {
        &self.io
    }

    /// Returns a mutable reference to the value that performs the operations.
    ///
    /// Do not replace its descriptor: the registration stays with the old one.
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
    /// # let mut stream = stream;
    /// stream.get_mut().set_nodelay(true)?;
    /// # peer.write_all(b"x")?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.io
    }

    /// Ends the registration, and returns the value. Its descriptor stays in non-blocking mode.
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
    /// let stream: TcpStream = stream.into_inner();
    /// stream.set_nonblocking(false)?;
    /// # peer.write_all(b"x")?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn into_inner(self) -> T {
        let Self { registration, io } = self;
        drop(registration);
        io
    }

    /// Accepts a connection. If the OS reports connections one by one, this uses up the report.
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
