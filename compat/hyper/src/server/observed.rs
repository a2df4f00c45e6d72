//! A connection's I/O, as hyper sees it. After an upgrade, the new owner sees it this way.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};

use super::activity::Activity;
use super::goodbye::{Closing, Goodbye};
use super::upgrade::Cut;
use super::writes::Writes;
use crate::io::read_seen;

/// The connection's I/O. It notes what hyper does with it, and begins with the bytes that were read to detect the
/// version.
pub(super) struct Observed<I: Read + Write + Unpin + Send + 'static> {
    /// `Some` until the drop.
    io: Option<I>,
    /// The bytes that were read to detect the version, and that hyper has not read yet.
    pub(super) head: Vec<u8>,
    taken: usize,
    /// The last bytes of HTTP that were read.
    tail: [u8; 4],
    pub(super) activity: Arc<Activity>,
    writes: Writes,
    /// Set after an upgrade to a WebSocket.
    goodbye: Option<Box<Goodbye>>,
    /// Two, because an upgraded connection may be read by one task and written by another.
    cut_reading: Cut,
    cut_writing: Cut,
}

impl<I: Read + Write + Unpin + Send + 'static> Observed<I> {
    pub(super) fn new(io: I, activity: Arc<Activity>, write_limit: Option<Duration>) -> Self {
        Self {
            io: Some(io),
            head: Vec::new(),
            taken: 0,
            tail: [0; 4],
            activity,
            writes: Writes::new(write_limit),
            goodbye: None,
            cut_reading: Cut::default(),
            cut_writing: Cut::default(),
        }
    }

    pub(super) fn io(&mut self) -> &mut I {
        present(&mut self.io)
    }

    /// Notes a write, and returns an error if no more are allowed.
    #[inline]
    fn note_write(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        self.activity.note_write();
        if self.activity.upgrade().is_none() {
            return Ok(());
        }
        self.check_upgraded_write(cx)
    }

    #[cold]
    fn check_upgraded_write(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        self.follow();
        match self.activity.upgrade() {
            Some(upgrade) => self.cut_writing.check(upgrade, cx),
            None => Ok(()),
        }
    }

    /// Follows the frames of a WebSocket, from the first read or write after the upgrade on. If hyper has read more
    /// than the head of the request, which no client should send, it is not known where frames begin, and they are left
    /// alone.
    fn follow(&mut self) {
        if self.goodbye.is_some() || &self.tail != b"\r\n\r\n" {
            return;
        }
        if let Some(upgrade) = self.activity.upgrade().filter(|upgrade| upgrade.is_websocket()) {
            self.goodbye = Some(Box::new(Goodbye::new(upgrade)));
        }
    }

    /// Returns bytes that were read to detect the version.
    #[cold]
    fn read_head(&mut self, cursor: &mut ReadBufCursor<'_>) {
        let head = &self.head[self.taken..];
        let count = head.len().min(cursor.remaining());
        cursor.put_slice(&head[..count]);
        note_tail(&mut self.tail, &head[..count]);
        self.taken += count;
        if self.taken == self.head.len() {
            self.head = Vec::new();
            self.taken = 0;
        }
        // They were counted when they came.
        self.activity.note_bytes(0);
    }

    /// Notes and returns the result of a write or a flush, or returns an error if it has waited for too long. After an
    /// upgrade there is no limit.
    #[inline]
    fn in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        result: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if self.activity.upgrade().is_some() {
            return result;
        }
        let result = self.writes.limit(cx, result);
        self.activity.note_waiting(result.is_pending());
        result
    }

    /// Notes which bytes of the buffers were written.
    #[inline]
    fn note_written<'a>(
        &mut self,
        written: &Poll<io::Result<usize>>,
        buffers: impl IntoIterator<Item = &'a [u8]>,
    ) {
        let Poll::Ready(Ok(mut count)) = *written else { return };
        self.activity.note_written(count);
        let Some(goodbye) = &mut self.goodbye else { return };
        for buffer in buffers {
            let part = count.min(buffer.len());
            goodbye.note_sent(&buffer[..part]);
            count -= part;
        }
    }
}

fn present<I>(io: &mut Option<I>) -> &mut I {
    io.as_mut().expect("the I/O is taken by the drop alone")
}

/// Notes the last bytes of those that were read.
fn note_tail(tail: &mut [u8; 4], bytes: &[u8]) {
    match bytes.last_chunk() {
        Some(last) => *tail = *last,
        None => {
            tail.rotate_left(bytes.len());
            tail[4 - bytes.len()..].copy_from_slice(bytes);
        }
    }
}

impl<I: Read + Write + Unpin + Send + 'static> Drop for Observed<I> {
    fn drop(&mut self) {
        if self.activity.upgrade().is_none() {
            return;
        }
        let closing = Closing(self.activity.clone());
        if let (Some(goodbye), Some(io)) = (self.goodbye.take(), self.io.take()) {
            if goodbye.has_begun() {
                goodbye.see_off(io, closing);
            }
        }
    }
}

impl<I: Read + Write + Unpin + Send + 'static> Read for Observed<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.head.is_empty() {
            this.read_head(&mut cursor);
            return Poll::Ready(Ok(()));
        }
        if let Some(upgrade) = this.activity.upgrade() {
            this.cut_reading.check(upgrade, cx)?;
            this.follow();
            let io = present(&mut this.io);
            return match &mut this.goodbye {
                Some(goodbye) => goodbye.poll_read(io, cx, &mut cursor),
                None => Pin::new(io).poll_read(cx, cursor),
            };
        }
        // hyper reads when it has room. The result is either bytes or the end. After the end it does not read again, so
        // taking the end for bytes does no harm.
        let (io, tail) = (Pin::new(present(&mut this.io)), &mut this.tail);
        let mut count = 0;
        let read = read_seen(io, cx, &mut cursor, |bytes| {
            note_tail(tail, bytes);
            count = bytes.len();
        })?;
        match read {
            Poll::Ready(()) => this.activity.note_bytes(count),
            Poll::Pending => {
                this.activity.note_nothing();
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<I: Read + Write + Unpin + Send + 'static> Write for Observed<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.note_write(cx)?;
        let written = Pin::new(self.io()).poll_write(cx, bytes);
        self.note_written(&written, [bytes]);
        self.in_time(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.note_write(cx)?;
        let flushed = Pin::new(self.io()).poll_flush(cx);
        self.in_time(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(self.io()).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.as_ref().is_some_and(Write::is_write_vectored)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.note_write(cx)?;
        let written = Pin::new(self.io()).poll_write_vectored(cx, buffers);
        self.note_written(&written, buffers.iter().map(|buffer| &**buffer));
        self.in_time(cx, written)
    }
}
