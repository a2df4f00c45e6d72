//! Our streams, as tokio's world wants them.
//!
//! The unsafe code here lends the caller's buffer, which is not initialised, to the read.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use windlass_net::{Duplex, OwnedReadHalf, OwnedWriteHalf, TcpStream};

/// A stream of windlass with tokio's `AsyncRead` and `AsyncWrite`: a [`TcpStream`], a `UnixStream`, or an owned half of
/// one. Needs no tokio runtime.
///
/// Reads go straight into the caller's buffer, which is not zeroed before, and several buffers are written in one call.
/// One task at a time can wait for a direction: the last that polled. Shutting down ends the direction of writes: the peer
/// sees the end of the stream.
///
/// # Examples
///
/// ```
/// use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
/// use windlass::net::{TcpListener, TcpStream};
/// use windlass_tokio::Io;
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let mut client = Io::new(TcpStream::connect(listener.local_addr()?).await?);
/// let (server, _) = listener.accept().await?;
/// client.write_all(b"first\nsecond\n").await?;
/// client.shutdown().await?;
///
/// let mut lines = BufReader::new(Io::new(server)).lines();
/// assert_eq!(lines.next_line().await?.as_deref(), Some("first"));
/// assert_eq!(lines.next_line().await?.as_deref(), Some("second"));
/// assert_eq!(lines.next_line().await?, None);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Io<T>(T);

impl<T> Io<T> {
    /// Wraps a stream.
    pub fn new(stream: T) -> Self {
        Self(stream)
    }

    /// Returns the stream.
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// Returns the stream, without the wrapper. Nothing that was read is lost: the wrapper holds no bytes.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// Streams that read into memory which need not be initialised. Private, because unsafe code relies on what they return.
pub(crate) trait Reads {
    /// Reads some bytes to the start of `room`, and returns them; nothing is the end of the stream.
    fn poll_read_uninit<'b>(
        &self,
        cx: &mut Context<'_>,
        room: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>>;
}

/// Streams of which a vectored write is one call.
pub(crate) trait Writes: futures_io::AsyncWrite {}

macro_rules! impl_reads {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $crate::io::Reads for $type {
            fn poll_read_uninit<'b>(
                &self,
                cx: &mut std::task::Context<'_>,
                room: &'b mut [std::mem::MaybeUninit<u8>],
            ) -> std::task::Poll<std::io::Result<&'b mut [u8]>> {
                // The stream's own method, which goes before the trait's.
                <$type>::poll_read_uninit(self, cx, room)
            }
        }
    };
}

pub(crate) use impl_reads;

impl_reads!([] TcpStream);
impl_reads!([S: Duplex] OwnedReadHalf<S>);
impl Writes for TcpStream {}
impl<S: Duplex> Writes for OwnedWriteHalf<S> {}

#[allow(private_bounds, reason = "there is nothing to implement")]
impl<T: Reads + Unpin> AsyncRead for Io<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: a read initialises bytes and never takes that back.
        let room = unsafe { buf.unfilled_mut() };
        let count = ready!(self.0.poll_read_uninit(cx, room))?.len();
        // SAFETY: the bytes that the read has returned are the first of `room`.
        unsafe { buf.assume_init(count) };
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

#[allow(private_bounds, reason = "there is nothing to implement")]
impl<T: Writes + Unpin> AsyncWrite for Io<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}
