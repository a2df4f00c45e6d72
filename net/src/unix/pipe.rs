//! Pipes, which carry bytes from a [`Sender`] to a [`Receiver`].
//!
//! # SIGPIPE
//!
//! A write to a pipe whose receiver was closed fails with `BrokenPipe`. The OS also raises `SIGPIPE`, which for pipes no
//! flag of the call prevents. In Rust programs std ignores the signal before `main` runs. If a program in another language
//! uses the library, or the signal was set back to its default, the signal ends the process: ignore it there.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
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
/// opened without waiting for a writer ends when it has had a writer and the last one has closed it.
pub struct Receiver {
    io: Async<File>,
}

wrapper!(Sender, File);
// Until a FIFO has had a writer, a read returns zero bytes, but the OS reports no event.
wrapper!(Receiver, File, Async::new_unready);

impl Sender {
    write_methods!();
}

impl Receiver {
    read_methods!();
}

impl ByteIo for File {
    // A pipe can be in a mode in which each read returns one of the writes.
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
