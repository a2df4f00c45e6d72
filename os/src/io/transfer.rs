//! One direction of a copy: a buffer between a reader and a writer.
//!
//! The buffer starts small and grows while reads fill it: a quiet connection uses little memory,
//! and a busy one makes few system calls. Copying 1 GB between two TCP connections takes about 0.6
//! s of CPU time with 16 KiB, and about 0.4 s with 64 KiB.
//!
//! *Rejected*: `splice`. It takes about 0.2 s for the same, and saves nothing for small messages. But it raises
//! `SIGPIPE` when the peer has closed its end. No flag prevents that, and the sockets of this runtime promise not to
//! raise it. It also needs a pipe for each direction, and works for plain sockets only.

use crate::policy::{COPY_ROUNDS, FIRST_COPY_BUFFER};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};

/// The state of a copy from a reader to a writer.
pub(super) struct Transfer {
    buf: Box<[u8]>,
    start: usize,
    end: usize,
    total: u64,
    stage: Stage,
    /// True if bytes were written and not flushed yet.
    dirty: bool,
    /// The largest size of the buffer.
    most: usize,
    /// True if the last read has filled the buffer.
    filled: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// The reader has ended, and the writer was not flushed or closed yet.
    Ending,
    Over,
}

impl Transfer {
    pub(super) fn new(most: usize) -> Self {
        let most = most.max(1);
        let buf = vec![0; FIRST_COPY_BUFFER.min(most)].into_boxed_slice();
        let (stage, dirty, filled) = (Stage::Running, false, false);
        Self { buf, start: 0, end: 0, total: 0, stage, dirty, most, filled }
    }

    /// Enlarges the buffer, which is empty, if the last read has filled it.
    fn grow(&mut self) {
        if self.filled && self.buf.len() < self.most {
            let len = self.buf.len().saturating_mul(2).min(self.most);
            self.buf = vec![0; len].into_boxed_slice();
        }
        self.filled = false;
    }

    /// Returns the number of bytes that the writer has accepted.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Moves as many bytes as possible. Ready when the reader has ended and the writer has accepted everything and, if
    /// `close` is true, has been closed.
    pub(super) fn poll<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
        close: bool,
    ) -> Poll<io::Result<u64>>
    where
        R: AsyncRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        for _ in 0..COPY_ROUNDS {
            if self.stage == Stage::Over {
                return Poll::Ready(Ok(self.total));
            }
            if self.start < self.end {
                let bytes = &self.buf[self.start..self.end];
                let n = ready!(writer.as_mut().poll_write(cx, bytes))?;
                if n == 0 {
                    let message = "the writer takes no more bytes";
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::WriteZero, message)));
                }
                self.start += n;
                self.total += n as u64;
                self.dirty = true;
                continue;
            }
            if self.stage == Stage::Ending {
                ready!(if close {
                    writer.as_mut().poll_close(cx)
                } else {
                    writer.as_mut().poll_flush(cx)
                })
                .or_else(already_gone)?;
                self.stage = Stage::Over;
                continue;
            }
            self.grow();
            match reader.as_mut().poll_read(cx, &mut self.buf) {
                Poll::Ready(Ok(0)) => self.stage = Stage::Ending,
                Poll::Ready(Ok(n)) => {
                    (self.start, self.end) = (0, n);
                    self.filled = n == self.buf.len();
                }
                Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    // Bytes must not stay in the writer's buffer while there is nothing to read.
                    if self.dirty {
                        ready!(writer.as_mut().poll_flush(cx))?;
                        self.dirty = false;
                    }
                    return Poll::Pending;
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Ignores the error of closing a connection that its peer has reset.
fn already_gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotConnected { Ok(()) } else { Err(error) }
}
