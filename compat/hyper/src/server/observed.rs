//! A connection's I/O, as hyper sees it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

use super::activity::Activity;
use super::upgrade::Cut;

/// The connection's I/O. Notes what hyper does with it, and begins with the bytes that were read before.
pub(super) struct Observed<I> {
    pub(super) io: I,
    /// What was read to know the version, and has not been read again.
    pub(super) head: Vec<u8>,
    taken: usize,
    pub(super) activity: Arc<Activity>,
    /// Two, because an upgraded connection may be read by one task and written by another.
    cut_reading: Cut,
    cut_writing: Cut,
}

impl<I> Observed<I> {
    pub(super) fn new(io: I, activity: Arc<Activity>) -> Self {
        let (cut_reading, cut_writing) = (Cut::default(), Cut::default());
        Self { io, head: Vec::new(), taken: 0, activity, cut_reading, cut_writing }
    }

    /// Notes a write, and returns an error if there are to be no more.
    fn note_write(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        self.activity.note_write();
        match self.activity.upgrade() {
            Some(upgrade) => self.cut_writing.check(upgrade, cx),
            None => Ok(()),
        }
    }
}

impl<I> Drop for Observed<I> {
    fn drop(&mut self) {
        if let Some(upgrade) = self.activity.upgrade() {
            upgrade.close();
        }
    }
}

impl<I: Read + Unpin> Read for Observed<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let head = &this.head[this.taken..];
        if !head.is_empty() {
            let count = head.len().min(cursor.remaining());
            cursor.put_slice(&head[..count]);
            this.taken += count;
            if this.taken == this.head.len() {
                this.head = Vec::new();
                this.taken = 0;
            }
            this.activity.note_bytes();
            return Poll::Ready(Ok(()));
        }
        if let Some(upgrade) = this.activity.upgrade() {
            this.cut_reading.check(upgrade, cx)?;
        }
        // hyper reads when it has room. What comes back is either bytes or the end; after the end it reads no
        // more, so to take that for bytes does no harm.
        match Pin::new(&mut this.io).poll_read(cx, cursor)? {
            Poll::Ready(()) => this.activity.note_bytes(),
            Poll::Pending => {
                this.activity.note_nothing();
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<I: Write + Unpin> Write for Observed<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.note_write(cx)?;
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.note_write(cx)?;
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.note_write(cx)?;
        Pin::new(&mut self.io).poll_write_vectored(cx, buffers)
    }
}
