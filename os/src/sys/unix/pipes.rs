//! The pipes of a child process, watched by the poller.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::pin::Pin;
use std::process::{self, Stdio};
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use windlass_net::unix::pipe::{Receiver, Sender};

use super::check;

/// The pipe that a child reads from.
#[derive(Debug)]
pub(crate) struct ChildStdin {
    pipe: Sender,
}

impl ChildStdin {
    pub(crate) fn new(pipe: process::ChildStdin) -> io::Result<Self> {
        Sender::from_std(file(pipe)).map(|pipe| Self { pipe })
    }

    pub(crate) async fn write(&self, buf: &[u8]) -> io::Result<usize> {
        self.pipe.write(buf).await
    }

    pub(crate) async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
        self.pipe.write_all(buf).await
    }

    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.pipe).poll_write(cx, buf)
    }

    /// Pipes have nothing to flush.
    pub(crate) fn poll_flush(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    pub(crate) fn into_stdio(self) -> io::Result<Stdio> {
        into_stdio(self.pipe.into_std()?)
    }
}

/// The pipe that a child writes to.
#[derive(Debug)]
pub(crate) struct ChildOutput {
    pipe: Receiver,
}

impl ChildOutput {
    pub(crate) fn stdout(pipe: process::ChildStdout) -> io::Result<Self> {
        Receiver::from_std(file(pipe)).map(|pipe| Self { pipe })
    }

    pub(crate) fn stderr(pipe: process::ChildStderr) -> io::Result<Self> {
        Receiver::from_std(file(pipe)).map(|pipe| Self { pipe })
    }

    pub(crate) async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.pipe.read(buf).await
    }

    pub(crate) async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        self.pipe.read_to_end(buf).await
    }

    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.pipe).poll_read(cx, buf)
    }

    pub(crate) fn into_stdio(self) -> io::Result<Stdio> {
        into_stdio(self.pipe.into_std()?)
    }
}

fn file(pipe: impl Into<OwnedFd>) -> File {
    File::from(pipe.into())
}

/// Makes the pipe blocking, as a child that gets it expects.
fn into_stdio(pipe: File) -> io::Result<Stdio> {
    // SAFETY: the descriptor is open; F_GETFL takes no pointer.
    let flags = check(unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_GETFL) })?;
    // SAFETY: as above; F_SETFL takes a number.
    check(unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) })?;
    Ok(pipe.into())
}
