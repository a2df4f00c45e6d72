//! The pipes to and from a child process.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::process::{self, Stdio};
use std::task::{Context, Poll};

use futures_io::{AsyncRead, AsyncWrite};

use crate::sys;

/// The pipe to a child's standard input. When it is dropped, or closed through [`AsyncWrite`], the child sees the end.
///
/// On Windows, where pipes can't be polled, a thread of the blocking pool writes. There, a dropped
/// write that has started is still performed.
pub struct ChildStdin {
    /// `None` after it was closed.
    pipe: Option<sys::ChildStdin>,
}

impl ChildStdin {
    /// Registers std's pipe with the current runtime.
    ///
    /// # Errors
    ///
    /// Returns an error if the OS refuses, or if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::{Command, Stdio};
    /// use windlass::process::ChildStdin;
    ///
    /// let mut child = Command::new("cat").stdin(Stdio::piped()).spawn()?;
    /// let stdin = ChildStdin::from_std(child.stdin.take().unwrap())?;
    /// drop(stdin);
    /// child.wait()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn from_std(pipe: process::ChildStdin) -> io::Result<Self> {
        sys::ChildStdin::new(pipe).map(|pipe| Self { pipe: Some(pipe) })
    }

    /// Writes some bytes, and returns their number: at least one, and as many as there is room for.
    ///
    /// If the future is dropped before it returns, nothing was written.
    ///
    /// # Errors
    ///
    /// Returns `BrokenPipe` if either end was closed, or another error of the OS, or an error if
    /// the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// # let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    /// let stdin = child.stdin.take().unwrap();
    /// assert_eq!(stdin.write(b"hello").await?, 5);
    /// # drop(stdin);
    /// # child.wait().await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn write(&self, buf: &[u8]) -> io::Result<usize> {
        self.open()?.write(buf).await
    }

    /// Writes all of `buf`. A dropped future does not tell how much was written.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// # let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    /// let stdin = child.stdin.take().unwrap();
    /// stdin.write_all(b"hello").await?;
    /// drop(stdin);
    /// child.wait().await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
        self.open()?.write_all(buf).await
    }

    pub(crate) fn open(&self) -> io::Result<&sys::ChildStdin> {
        self.pipe.as_ref().ok_or_else(closed)
    }

    pub(crate) fn into_pipe(self) -> io::Result<sys::ChildStdin> {
        self.pipe.ok_or_else(closed)
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

/// Converts the pipe for another child, which then writes into it.
impl TryFrom<ChildStdin> for Stdio {
    type Error = io::Error;

    fn try_from(pipe: ChildStdin) -> io::Result<Self> {
        pipe.into_pipe()?.into_stdio()
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
        /// Any number of tasks can read from it, and each byte goes to one of them.
        pub struct $type {
            pipe: sys::ChildOutput,
        }

        impl $type {
            /// Registers std's pipe with the current runtime.
            ///
            /// # Errors
            ///
            /// Returns an error if the OS refuses, or if the runtime is shutting down.
            ///
            /// # Examples
            ///
            /// ```
            /// use std::process::{Command, Stdio};
            /// use windlass::process::ChildStdout;
            ///
            /// let mut child = Command::new("echo").stdout(Stdio::piped()).spawn()?;
            /// let stdout = ChildStdout::from_std(child.stdout.take().unwrap())?;
            /// child.wait()?;
            /// # drop(stdout);
            /// # Ok::<(), std::io::Error>(())
            /// ```
            pub fn from_std(pipe: process::$type) -> io::Result<Self> {
                sys::ChildOutput::$make(pipe).map(|pipe| Self { pipe })
            }

            /// Reads some bytes, and returns their number: at least one, and as many as are available and fit.
            ///
            /// Zero means that all processes that have the other end have closed it.
            ///
            /// Dropping the future loses nothing.
            ///
            /// # Errors
            ///
            /// Returns the OS's error, or an error if the runtime shuts down.
            ///
            /// # Examples
            ///
            /// ```
            /// use std::process::Stdio;
            ///
            /// # use windlass::process::Command;
            /// # windlass::block_on(async {
            /// # let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
            /// let stdout = child.stdout.take().unwrap();
            /// assert!(stdout.read(&mut [0; 16]).await? > 0);
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
                self.pipe().read(buf).await
            }

            /// Reads until `buf` is full.
            ///
            /// A dropped future does not say how much was read.
            ///
            /// # Errors
            ///
            /// Returns `UnexpectedEof` if the pipe ends first; otherwise the same errors as [`read`](Self::read).
            ///
            /// # Examples
            ///
            /// ```
            /// use std::process::Stdio;
            ///
            /// # use windlass::process::Command;
            /// # windlass::block_on(async {
            /// # let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
            /// let mut start = [0; 4];
            /// child.stdout.take().unwrap().read_exact(&mut start).await?;
            /// assert_eq!(&start, b"hell");
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub async fn read_exact(&self, mut buf: &mut [u8]) -> io::Result<()> {
                while !buf.is_empty() {
                    match self.read(buf).await? {
                        0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                        n => buf = &mut buf[n..],
                    }
                }
                Ok(())
            }

            /// Appends everything up to the end to `buf`, and returns the number of bytes.
            ///
            /// Dropping the future loses nothing: bytes that were read are in `buf`, or are returned by the next read.
            ///
            /// # Errors
            ///
            /// Returns the same errors as [`read`](Self::read).
            ///
            /// # Examples
            ///
            /// ```
            /// use std::process::Stdio;
            ///
            /// # use windlass::process::Command;
            /// # windlass::block_on(async {
            /// # let mut child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
            /// let mut all = Vec::new();
            /// child.stdout.take().unwrap().read_to_end(&mut all).await?;
            /// assert_eq!(all, b"hello\n");
            /// # Ok::<(), std::io::Error>(())
            /// # }).unwrap();
            /// ```
            pub async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
                self.pipe().read_to_end(buf).await
            }

            pub(crate) fn pipe(&self) -> &sys::ChildOutput {
                &self.pipe
            }

            pub(crate) fn into_pipe(self) -> io::Result<sys::ChildOutput> {
                Ok(self.pipe)
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

        /// Converts the pipe for another child, which then reads from it.
        impl TryFrom<$type> for Stdio {
            type Error = io::Error;

            fn try_from(pipe: $type) -> io::Result<Self> {
                pipe.into_pipe()?.into_stdio()
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
