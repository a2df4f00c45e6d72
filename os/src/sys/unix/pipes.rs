//! The pipes of a child process, watched by the poller.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::process::{self as std_process, Stdio};
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};
use windlass_net::unix::pipe::{Receiver, Sender};

use crate::process;

/// The pipe that a child reads from.
#[derive(Debug)]
pub(crate) struct ChildStdin {
    pipe: Sender,
}

impl ChildStdin {
    pub(crate) fn new(pipe: std_process::ChildStdin) -> io::Result<Self> {
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
        self.pipe.into_blocking_fd().map(Stdio::from)
    }
}

/// The pipe that a child writes to.
#[derive(Debug)]
pub(crate) struct ChildOutput {
    pipe: Receiver,
}

impl ChildOutput {
    pub(crate) fn stdout(pipe: std_process::ChildStdout) -> io::Result<Self> {
        Receiver::from_std(file(pipe)).map(|pipe| Self { pipe })
    }

    pub(crate) fn stderr(pipe: std_process::ChildStderr) -> io::Result<Self> {
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
        self.pipe.into_blocking_fd().map(Stdio::from)
    }
}

fn file(pipe: impl Into<OwnedFd>) -> File {
    File::from(pipe.into())
}

/// # Panics
///
/// Panics if the pipe was closed through [`AsyncWrite`].
impl AsFd for process::ChildStdin {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.open().expect("the pipe is open").pipe.as_fd()
    }
}

impl AsFd for process::ChildStdout {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe().pipe.as_fd()
    }
}

impl AsFd for process::ChildStderr {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe().pipe.as_fd()
    }
}

/// Defines the conversions to descriptors, and their method.
macro_rules! descriptors {
    ($($type:ident)*) => {
        $(
            impl AsRawFd for process::$type {
                fn as_raw_fd(&self) -> RawFd {
                    self.as_fd().as_raw_fd()
                }
            }

            impl process::$type {
                /// Ends the registration, and returns the descriptor in blocking mode. Unix only.
                ///
                /// # Errors
                ///
                /// Returns an error if the OS refuses, or if the pipe was closed.
                ///
                /// # Examples
                ///
                /// ```
                /// use std::process::Stdio;
                ///
                /// # use windlass::process::Command;
                /// # windlass::block_on(async {
                /// let mut child = Command::new("echo").stdout(Stdio::piped()).spawn()?;
                /// let descriptor = child.stdout.take().unwrap().into_owned_fd()?;
                /// # child.wait().await?;
                /// # drop(descriptor);
                /// # Ok::<(), std::io::Error>(())
                /// # }).unwrap();
                /// ```
                pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
                    self.into_pipe()?.pipe.into_blocking_fd()
                }
            }
        )*
    };
}

descriptors!(ChildStdin ChildStdout ChildStderr);
