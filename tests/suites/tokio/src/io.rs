//! I/O: tokio's traits and what is built on them, our descriptors and standard streams.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

pub use genuine::io::*;

/// Reads through a stream of ours into a buffer of tokio's.
pub(crate) fn poll_read(
    mut stream: impl futures_io::AsyncRead + Unpin,
    cx: &mut Context<'_>,
    buf: &mut ReadBuf<'_>,
) -> Poll<std::io::Result<()>> {
    let count = ready!(Pin::new(&mut stream).poll_read(cx, buf.initialize_unfilled()))?;
    buf.advance(count);
    Poll::Ready(Ok(()))
}

/// Implements `AsyncRead` for a wrapper whose field 0, by reference, is a stream of ours.
macro_rules! impl_read {
    ([$($generics:tt)*] $type:ty, |$this:ident| $stream:expr) => {
        impl<$($generics)*> genuine::io::AsyncRead for $type {
            fn poll_read(
                #[allow(unused_mut)] mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buf: &mut genuine::io::ReadBuf<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let $this = &mut self;
                $crate::io::poll_read($stream, cx, buf)
            }
        }
    };
}

/// Implements `AsyncWrite`, likewise.
macro_rules! impl_write {
    ([$($generics:tt)*] $type:ty, |$this:ident| $stream:expr) => {
        impl<$($generics)*> genuine::io::AsyncWrite for $type {
            fn poll_write(
                #[allow(unused_mut)] mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                bytes: &[u8],
            ) -> std::task::Poll<std::io::Result<usize>> {
                let $this = &mut self;
                futures_io::AsyncWrite::poll_write(std::pin::Pin::new(&mut $stream), cx, bytes)
            }

            fn poll_write_vectored(
                #[allow(unused_mut)] mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
                buffers: &[std::io::IoSlice<'_>],
            ) -> std::task::Poll<std::io::Result<usize>> {
                let $this = &mut self;
                futures_io::AsyncWrite::poll_write_vectored(std::pin::Pin::new(&mut $stream), cx, buffers)
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(
                #[allow(unused_mut)] mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let $this = &mut self;
                futures_io::AsyncWrite::poll_flush(std::pin::Pin::new(&mut $stream), cx)
            }

            fn poll_shutdown(
                #[allow(unused_mut)] mut self: std::pin::Pin<&mut Self>,
                cx: &mut std::task::Context<'_>,
            ) -> std::task::Poll<std::io::Result<()>> {
                let $this = &mut self;
                futures_io::AsyncWrite::poll_close(std::pin::Pin::new(&mut $stream), cx)
            }
        }
    };
}

pub(crate) use {impl_read, impl_write};

#[derive(Debug)]
pub struct Stdin(windlass::io::Stdin);
#[derive(Debug)]
pub struct Stdout(windlass::io::Stdout);
#[derive(Debug)]
pub struct Stderr(windlass::io::Stderr);

pub fn stdin() -> Stdin {
    Stdin(windlass::io::stdin())
}

pub fn stdout() -> Stdout {
    Stdout(windlass::io::stdout())
}

pub fn stderr() -> Stderr {
    Stderr(windlass::io::stderr())
}

impl_read!([] Stdin, |this| &mut this.0);
impl_write!([] Stdout, |this| &mut this.0);
impl_write!([] Stderr, |this| &mut this.0);
