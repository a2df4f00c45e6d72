//! Copying one stream into another.

use std::io;
use std::pin::Pin;

use futures_io::{AsyncRead, AsyncWrite};

use super::transfer::Transfer;
use crate::policy::COPY_BUFFER;

/// Copies everything from `reader` to `writer`, flushes the writer, and returns the number of
/// bytes. The writer is not closed.
///
/// The reader decides how much there is to copy, and how long it takes. Dropping the future loses up to 64 KiB that
/// were read but not yet written.
///
/// # Errors
///
/// Returns the first error of either of them.
///
/// # Examples
///
/// ```
/// use windlass::io;
///
/// # windlass::block_on(async {
/// let mut copied = Vec::new();
/// let n = io::copy(&mut &b"some bytes"[..], &mut copied).await?;
/// assert_eq!(n, 10);
/// assert_eq!(copied, b"some bytes");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut transfer = Transfer::new(COPY_BUFFER);
    std::future::poll_fn(|cx| {
        transfer.poll(cx, Pin::new(&mut *reader), Pin::new(&mut *writer), false)
    })
    .await
}
