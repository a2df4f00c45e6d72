//! Pipes, which carry bytes from a [`Sender`] to a [`Receiver`].
//!
//! # SIGPIPE
//!
//! A write to a pipe whose receiver was closed fails with `BrokenPipe`. The OS also raises `SIGPIPE`, and for pipes no
//! flag of the call prevents that. In Rust programs, std ignores the signal before `main` runs. In a program in another
//! language that uses the library, or if the signal was set back to its default, it ends the process: ignore the signal
//! there.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::task::{Context, Poll};

use crate::bytes::ByteIo;
use crate::methods::{impl_async_read, impl_async_write, read_methods, wrapper, write_methods};
use crate::{Async, sys};

/// Creates a pipe.
///
/// # Errors
///
/// Returns an error if descriptors have run out, or if the runtime is shutting down.
///
/// # Examples
///
/// ```
/// use windlass::net::unix::pipe;
///
/// # windlass::block_on(async {
/// let (sender, receiver) = pipe()?;
/// sender.write_all(b"down the pipe").await?;
/// drop(sender);
/// let mut got = Vec::new();
/// receiver.read_to_end(&mut got).await?;
/// assert_eq!(got, b"down the pipe");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub fn pipe() -> io::Result<(Sender, Receiver)> {
    let (reader, writer) = sys::pipe()?;
    let sender = Sender { io: Async::new_writable(writer)? };
    let receiver = Receiver { io: Async::new_nonblocking(reader)? };
    Ok((sender, receiver))
}

/// The writing end of a pipe. When it is dropped, the receiver sees the end.
///
/// [`from_std`](Self::from_std) accepts a FIFO that was opened as a file, or a pipe of a child process.
pub struct Sender {
    io: Async<File>,
}

/// The reading end of a pipe.
///
/// [`from_std`](Self::from_std) accepts a FIFO that was opened as a file, or a pipe of a child process. A FIFO that was
/// opened without waiting for a writer ends only when the last writer has closed it.
pub struct Receiver {
    io: Async<File>,
}

wrapper!(Sender, File);
// Until a FIFO has had a writer, a read returns zero bytes, but the OS reports no event.
wrapper!(Receiver, File, Async::new_unready);

/// Defines the conversions from and to files and descriptors that have no counterpart among sockets.
macro_rules! descriptor_methods {
    ($end:literal) => {
        /// Registers a pipe, or a FIFO, that was opened as a file: [`from_std`](Self::from_std) under its name in
        /// tokio.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`from_std`](Self::from_std).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::fs::File;
        /// use windlass::net::unix::pipe::{Receiver, Sender, pipe};
        ///
        /// # windlass::block_on(async {
        /// let (sender, receiver) = pipe()?;
        /// let sender = Sender::from_file(sender.into_std()?)?;
        /// let receiver = Receiver::from_file(receiver.into_std()?)?;
        /// sender.write_all(b"hello").await?;
        /// receiver.read_exact(&mut [0; 5]).await?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn from_file(file: File) -> io::Result<Self> {
            Self::from_std(file)
        }

        /// Registers the descriptor of a pipe.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`from_std`](Self::from_std).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::os::fd::OwnedFd;
        /// use windlass::net::unix::pipe::{Sender, pipe};
        ///
        /// # windlass::block_on(async {
        /// let (sender, _receiver) = pipe()?;
        /// let descriptor = OwnedFd::from(sender);
        /// let sender = Sender::from_owned_fd(descriptor)?;
        /// # drop(sender);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn from_owned_fd(descriptor: OwnedFd) -> io::Result<Self> {
            Self::from_std(descriptor.into())
        }

        #[doc = concat!("Ends the registration, and returns the descriptor in blocking mode, as a child process expects ", $end, ".")]
        ///
        /// # Errors
        ///
        /// Returns an error if the OS refuses.
        ///
        /// # Examples
        ///
        /// ```
        /// use std::process::Command;
        /// use windlass::net::unix::pipe;
        ///
        /// # windlass::block_on(async {
        /// let (sender, receiver) = pipe()?;
        /// let mut child = Command::new("echo").arg("hello").stdout(sender.into_blocking_fd()?).spawn()?;
        /// receiver.read_exact(&mut [0; 6]).await?;
        /// # child.wait()?;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
            let descriptor = OwnedFd::from(self);
            sys::set_blocking(descriptor.as_fd())?;
            Ok(descriptor)
        }
    };
}

impl Sender {
    write_methods!();
    descriptor_methods!("its output");
}

impl Receiver {
    read_methods!();
    descriptor_methods!("its input");
}

impl ByteIo for File {
    // A pipe can be in a mode in which each read returns the bytes of one write.
    const SHORT_READ_DRAINS: bool = false;
    const SHORT_WRITE_FILLS: bool = false;
    const END_IS_REPORTED: bool = true;

    fn reader(&self) -> impl Read + '_ {
        self
    }

    fn read_uninit(&self, buf: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        sys::read_uninit(sys::descriptor(self), buf)
    }

    fn write(&self, buf: &[u8]) -> io::Result<usize> {
        Write::write(&mut &*self, buf)
    }

    fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        Write::write_vectored(&mut &*self, bufs)
    }

    fn shutdown(&self, _how: Shutdown) -> io::Result<()> {
        // A pipe has one direction, which ends when the sender is dropped.
        Ok(())
    }
}

impl_async_read!([] Receiver);
impl_async_read!([] & Receiver);
impl_async_write!([] Sender);
impl_async_write!([] & Sender);
