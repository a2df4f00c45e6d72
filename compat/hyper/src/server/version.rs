//! Detects the protocol of a connection by its first bytes, which hyper then reads again.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Poll, ready};

use hyper::rt::{Read, ReadBuf, Write};

use super::observed::Observed;
use crate::policy::FIRST_READ;

/// The first bytes that an HTTP/2 client sends. No HTTP/1 request begins like this.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

/// Reads into `head` until the version is known. Returns `None` if the stream ends before its first byte.
pub(super) async fn read_version<I: Read + Write + Unpin + Send + 'static>(
    io: &mut Observed<I>,
) -> io::Result<Option<Version>> {
    loop {
        if io.head.len() >= PREFACE.len() || !PREFACE.starts_with(&io.head) {
            let is_2 = io.head.starts_with(PREFACE);
            return Ok(Some(if is_2 { Version::Http2 } else { Version::Http1 }));
        }
        let count = poll_fn(|cx| {
            let mut room = [MaybeUninit::uninit(); FIRST_READ];
            let mut buf = ReadBuf::uninit(&mut room);
            ready!(Pin::new(io.io()).poll_read(cx, buf.unfilled()))?;
            io.head.extend_from_slice(buf.filled());
            Poll::Ready(Ok::<_, io::Error>(buf.filled().len()))
        })
        .await?;
        if count == 0 {
            return Ok((!io.head.is_empty()).then_some(Version::Http1));
        }
        io.activity.note_bytes(count);
    }
}
