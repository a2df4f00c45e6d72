//! The properties of a stream that the adapters to other crates' I/O traits rely on. Not meant for programs.

use std::io;
use std::mem::MaybeUninit;
use std::task::{Context, Poll};

pub use futures_io::AsyncWrite;

use crate::{Duplex, OwnedReadHalf, OwnedWriteHalf, TcpStream};

/// A stream that can read into uninitialised memory. Only windlass's own streams implement this.
pub trait ReadUninit: private::Sealed {
    /// Reads some bytes to the start of `room`, and returns them. An empty slice means the end of the stream.
    ///
    /// # Errors
    ///
    /// Fails if the OS reports an error, or if the runtime shuts down.
    fn poll_read_uninit<'b>(
        &self,
        cx: &mut Context<'_>,
        room: &'b mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<&'b mut [u8]>>;
}

/// A stream that performs a vectored write in one call.
pub trait WriteVectored: private::Sealed + AsyncWrite + Unpin {}

pub(crate) mod private {
    /// Sealed because unsafe code in the adapters relies on the results.
    pub trait Sealed {}
}

macro_rules! impl_read_uninit {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $crate::adapter::private::Sealed for $type {}

        impl<$($generics)*> $crate::adapter::ReadUninit for $type {
            fn poll_read_uninit<'b>(
                &self,
                cx: &mut std::task::Context<'_>,
                room: &'b mut [std::mem::MaybeUninit<u8>],
            ) -> std::task::Poll<std::io::Result<&'b mut [u8]>> {
                // The stream's own method, which takes precedence over the trait's.
                <$type>::poll_read_uninit(self, cx, room)
            }
        }
    };
}

#[cfg(unix)]
pub(crate) use impl_read_uninit;

impl_read_uninit!([] TcpStream);
impl_read_uninit!([S: Duplex] OwnedReadHalf<S>);
impl WriteVectored for TcpStream {}
impl<S: Duplex> private::Sealed for OwnedWriteHalf<S> {}
impl<S: Duplex> WriteVectored for OwnedWriteHalf<S> {}

/// Defines the methods of a trait like futures-io's `AsyncWrite` that calls closing *shutdown*, for a wrapper of a
/// [`WriteVectored`] stream.
#[doc(hidden)]
#[macro_export]
macro_rules! forward_writes {
    () => {
        fn poll_write(
            mut self: ::std::pin::Pin<&mut Self>,
            cx: &mut ::std::task::Context<'_>,
            bytes: &[u8],
        ) -> ::std::task::Poll<::std::io::Result<usize>> {
            $crate::adapter::AsyncWrite::poll_write(::std::pin::Pin::new(&mut self.0), cx, bytes)
        }

        fn poll_write_vectored(
            mut self: ::std::pin::Pin<&mut Self>,
            cx: &mut ::std::task::Context<'_>,
            buffers: &[::std::io::IoSlice<'_>],
        ) -> ::std::task::Poll<::std::io::Result<usize>> {
            let stream = ::std::pin::Pin::new(&mut self.0);
            $crate::adapter::AsyncWrite::poll_write_vectored(stream, cx, buffers)
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(
            mut self: ::std::pin::Pin<&mut Self>,
            cx: &mut ::std::task::Context<'_>,
        ) -> ::std::task::Poll<::std::io::Result<()>> {
            $crate::adapter::AsyncWrite::poll_flush(::std::pin::Pin::new(&mut self.0), cx)
        }

        fn poll_shutdown(
            mut self: ::std::pin::Pin<&mut Self>,
            cx: &mut ::std::task::Context<'_>,
        ) -> ::std::task::Poll<::std::io::Result<()>> {
            $crate::adapter::AsyncWrite::poll_close(::std::pin::Pin::new(&mut self.0), cx)
        }
    };
}
