//! The three pipes of a child.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::process::{self, Stdio};
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use crate::sys;

/// The pipe to a child's standard input. Dropping it lets the child see the end, and so does closing it by
/// way of [`AsyncWrite`].
///
/// On Windows, where pipes can't be polled, a thread of the blocking pool writes: bytes that were taken over by a write
/// whose future was dropped are written all the same.
pub struct ChildStdin {
    /// `None` when it was closed.
    pipe: Option<sys::ChildStdin>,
}

impl ChildStdin {
    /// Takes over std's pipe, on the current runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses, or if the runtime is shutting down.
    pub fn from_std(pipe: process::ChildStdin) -> io::Result<Self> {
        sys::ChildStdin::new(pipe).map(|pipe| Self { pipe: Some(pipe) })
    }

    /// Writes some bytes: at least one, as many as there is room for.
    ///
    /// Dropping the future loses nothing: unless it returned, nothing was written.
    ///
    /// # Errors
    ///
    /// `BrokenPipe` if the child has closed its end, or if this one was closed; what else the OS says; or if the runtime
    /// shuts down.
    pub async fn write(&self, buf: &[u8]) -> io::Result<usize> {
        self.open()?.write(buf).await
    }

    /// Writes all of `buf`. Dropping the future half-way does not say how much was written.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write`](Self::write).
    pub async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
        self.open()?.write_all(buf).await
    }

    fn open(&self) -> io::Result<&sys::ChildStdin> {
        self.pipe.as_ref().ok_or_else(closed)
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the pipe was closed")
}

impl AsyncWrite for ChildStdin {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.pipe {
            Some(pipe) => pipe.poll_write(cx, buf),
            None => Poll::Ready(Err(closed())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.pipe.as_mut().map_or(Poll::Ready(Ok(())), |pipe| pipe.poll_flush(cx))
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = self.as_mut().poll_flush(cx);
        if flushed.is_ready() {
            self.pipe = None;
        }
        flushed
    }
}

/// For another child, which is to write into the same pipe.
impl TryFrom<ChildStdin> for Stdio {
    type Error = io::Error;

    fn try_from(pipe: ChildStdin) -> io::Result<Self> {
        pipe.pipe.ok_or_else(closed)?.into_stdio()
    }
}

impl fmt::Debug for ChildStdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChildStdin").finish_non_exhaustive()
    }
}

macro_rules! output {
    ($type:ident, $make:ident, $text:literal) => {
        #[doc = concat!("The pipe from a child's ", $text, ".")]
        ///
        /// Any number of tasks may read from it, and each byte goes to one of them.
        pub struct $type {
            pipe: sys::ChildOutput,
        }

        impl $type {
            /// Takes over std's pipe, on the current runtime.
            ///
            /// # Errors
            ///
            /// Returns an error if the OS refuses, or if the runtime is shutting down.
            pub fn from_std(pipe: process::$type) -> io::Result<Self> {
                sys::ChildOutput::$make(pipe).map(|pipe| Self { pipe })
            }

            /// Reads some bytes: at least one, as many as there are and fit. Zero means that all who have the other
            /// end have closed it.
            ///
            /// Dropping the future loses nothing.
            ///
            /// # Errors
            ///
            /// Returns the OS's error, or an error if the runtime shuts down.
            pub async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.pipe.read(buf).await
            }

            /// Appends everything up to the end to `buf`, and returns how much that was.
            ///
            /// Dropping the future loses nothing: what was read is in `buf`, or will be read next.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`read`](Self::read).
            pub async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
                self.pipe.read_to_end(buf).await
            }
        }

        impl AsyncRead for $type {
            fn poll_read(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                self.pipe.poll_read(cx, buf)
            }
        }

        /// For another child, which is to read from the same pipe.
        impl TryFrom<$type> for Stdio {
            type Error = io::Error;

            fn try_from(pipe: $type) -> io::Result<Self> {
                pipe.pipe.into_stdio()
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type)).finish_non_exhaustive()
            }
        }
    };
}

output!(ChildStdout, stdout, "standard output");
output!(ChildStderr, stderr, "standard error");
