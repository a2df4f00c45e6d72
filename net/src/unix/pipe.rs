//! Pipes: one way, from a [`Sender`] to a [`Receiver`].
//!
//! # SIGPIPE
//!
//! A write to a pipe whose receiver has gone fails with `BrokenPipe`. The OS also raises `SIGPIPE`, and
//! unlike with sockets no flag of the call prevents that. Rust programs ignore the signal, since std
//! says so before `main`. In a library of a program that is not Rust's, or that has set the signal back
//! to its default, the process ends; ignore the signal there.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::task::{Context, Poll};

use crate::bytes::ByteIo;
use crate::methods::{impl_async_read, impl_async_write, read_methods, wrapper, write_methods};
use crate::{Async, sys};

/// Makes a pipe.
///
/// # Errors
///
/// If descriptors have run out, or if the runtime is shutting down.
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
    let sender = Sender { io: Async::new_nonblocking(writer)? };
    let receiver = Receiver { io: Async::new_nonblocking(reader)? };
    Ok((sender, receiver))
}

/// The end of a pipe that is written to. Dropping it lets the receiver see the end.
///
/// [`from_std`](Self::from_std) takes a FIFO that was opened as a file, or a pipe of a child process.
pub struct Sender {
    io: Async<File>,
}

/// The end of a pipe that is read from.
///
/// [`from_std`](Self::from_std) takes a FIFO that was opened as a file, or a pipe of a child process.
pub struct Receiver {
    io: Async<File>,
}

wrapper!(Sender, File);
wrapper!(Receiver, File);

impl Sender {
    write_methods!();
}

impl Receiver {
    read_methods!();
}

impl ByteIo for File {
    // A pipe can be in a mode in which each read gets one of the writes.
    const SHORT_READ_DRAINS: bool = false;
    const SHORT_WRITE_FILLS: bool = false;

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
        // A pipe has one direction, which ends when it is dropped.
        Ok(())
    }
}

impl_async_read!([] Receiver);
impl_async_read!([] & Receiver);
impl_async_write!([] Sender);
impl_async_write!([] & Sender);
