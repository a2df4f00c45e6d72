//! Our streams, as hyper wants them.
//!
//! The unsafe code here lends hyper's buffer, which is not initialised, to the read.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::AsyncWrite;
use hyper::rt::{Read, ReadBufCursor, Write};
use windlass_net::{Duplex, OwnedReadHalf, OwnedWriteHalf, TcpStream};

/// A stream of windlass with the traits that hyper wants: a [`TcpStream`], a `UnixStream`, or an owned half
/// of one.
///
/// Reads go straight into hyper's buffer, which is not zeroed before, and several buffers are written in one
/// call. One task at a time can wait for a direction: the last that polled.
///
/// # Examples
///
/// ```
/// use windlass::net::{TcpListener, TcpStream};
/// use windlass_hyper::Io;
///
/// # windlass::block_on(async {
/// # let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let stream = TcpStream::connect(listener.local_addr()?).await?;
/// let (sender, connection) = hyper::client::conn::http1::handshake(Io::new(stream)).await.unwrap();
/// # let sender: hyper::client::conn::http1::SendRequest<String> = sender;
/// # drop((sender, connection));
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

    /// The stream.
    pub fn get_ref(&self) -> &T {
        &self.0
    }

    /// The stream, without the wrapper. Nothing that was read is lost: the wrapper holds no bytes.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// A stream that reads into memory which need not be initialised. Streams of windlass do, and nothing else can.
pub trait ReadUninit: private::Sealed {
    /// Reads some bytes to the start of `room`, and returns them; nothing is the end of the stream.
    ///
    /// # Errors
    ///
    /// What the OS says, or if the runtime shuts down.
    fn poll_read_uninit<'b>(
        &self,
        cx: &mut Context<'_>,
        room: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>>;
}

pub(crate) mod private {
    /// Unsafe code relies on what is returned.
    pub trait Sealed {}
}

macro_rules! impl_read_uninit {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $crate::io::private::Sealed for $type {}

        impl<$($generics)*> $crate::ReadUninit for $type {
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

pub(crate) use impl_read_uninit;

impl_read_uninit!([] TcpStream);
impl_read_uninit!([S: Duplex] OwnedReadHalf<S>);

impl<T: ReadUninit> Read for Io<T>
where
    Self: Unpin,
{
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // SAFETY: a read initialises bytes and never takes that back.
        let room = unsafe { cursor.as_mut() };
        let count = ready!(self.0.poll_read_uninit(cx, room))?.len();
        // SAFETY: the bytes that the read has returned are the first of `room`.
        unsafe { cursor.advance(count) };
        Poll::Ready(Ok(()))
    }
}

/// Streams of which a vectored write is one call.
pub(crate) trait Writes: AsyncWrite {}

impl Writes for TcpStream {}
impl<S: Duplex> Writes for OwnedWriteHalf<S> {}

#[allow(private_bounds, reason = "there is nothing to implement")]
impl<T: Writes + Unpin> Write for Io<T> {
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
