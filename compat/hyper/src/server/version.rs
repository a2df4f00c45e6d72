//! Which protocol a connection speaks: known by its first bytes, which are read again after that.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};

use super::activity::Activity;

/// What a client of HTTP/2 says first. No request of HTTP/1 begins like that.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// How much is read at a time: most requests in one go.
const CHUNK: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

/// Reads until the version is known, into `head`. `None` if the stream ends before it says anything.
pub(super) async fn read_version<I: Read + Unpin>(
    io: &mut Observed<I>,
) -> io::Result<Option<Version>> {
    loop {
        if io.head.len() >= PREFACE.len() || !PREFACE.starts_with(&io.head) {
            let is_2 = io.head.starts_with(PREFACE);
            return Ok(Some(if is_2 { Version::Http2 } else { Version::Http1 }));
        }
        let count = poll_fn(|cx| {
            let mut room = [MaybeUninit::uninit(); CHUNK];
            let mut buf = ReadBuf::uninit(&mut room);
            ready!(Pin::new(&mut io.io).poll_read(cx, buf.unfilled()))?;
            io.head.extend_from_slice(buf.filled());
            Poll::Ready(Ok::<_, io::Error>(buf.filled().len()))
        })
        .await?;
        if count == 0 {
            return Ok((!io.head.is_empty()).then_some(Version::Http1));
        }
        io.activity.note_bytes();
    }
}

/// The connection's I/O. Notes what hyper does with it, and begins with the bytes that were read before.
pub(super) struct Observed<I> {
    io: I,
    /// What was read to know the version, and has not been read again.
    head: Vec<u8>,
    taken: usize,
    activity: Arc<Activity>,
}

impl<I> Observed<I> {
    pub(super) fn new(io: I, activity: Arc<Activity>) -> Self {
        Self { io, head: Vec::new(), taken: 0, activity }
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
        self.activity.note_write();
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.activity.note_write();
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
        self.activity.note_write();
        Pin::new(&mut self.io).poll_write_vectored(cx, buffers)
    }
}
