//! The two directions of a stream, as values of their own.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::Async;
use crate::bytes::ByteIo;
use crate::methods::{impl_async_read, impl_async_write, read_methods, write_methods};

/// A stream with two directions that can be had apart: [`TcpStream`](crate::TcpStream) and
/// `UnixStream`.
pub trait Duplex: private::Stream {}

pub(crate) mod private {
    use super::{Async, ByteIo};

    /// What halves are made of.
    pub trait Stream {
        type Io: ByteIo;
        fn stream_io(&self) -> &Async<Self::Io>;
    }
}

/// The reading direction of a stream, borrowed; see [`TcpStream::split`](crate::TcpStream::split).
#[derive(Debug)]
pub struct ReadHalf<'a, S>(&'a S);

/// The writing direction of a stream, borrowed; see [`TcpStream::split`](crate::TcpStream::split).
#[derive(Debug)]
pub struct WriteHalf<'a, S>(&'a S);

/// The reading direction of a stream, owned; see
/// [`TcpStream::into_split`](crate::TcpStream::into_split). Dropping it leaves both directions open
/// until the other half is dropped, too.
///
/// # Examples
///
/// ```
/// # use windlass::net::{TcpListener, TcpStream};
/// # windlass::block_on(async {
/// # let listener = TcpListener::bind("127.0.0.1:0").await?;
/// # let stream = TcpStream::connect(listener.local_addr()?).await?;
/// let (reader, writer) = stream.into_split();
/// let sending = windlass::spawn(async move {
///     writer.write_all(b"hello").await?;
///     Ok::<_, std::io::Error>(writer)
/// });
/// # let (peer, _) = listener.accept().await?;
/// # peer.write_all(b"x").await?;
/// reader.read_exact(&mut [0]).await?;
/// let stream = reader.reunite(sending.await.unwrap()?).unwrap();
/// # drop(stream);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct OwnedReadHalf<S> {
    stream: Arc<S>,
}

/// The writing direction of a stream, owned; see
/// [`TcpStream::into_split`](crate::TcpStream::into_split). **Dropping it ends the direction**: the
/// peer sees the end of the stream. [`forget`](Self::forget) does not do that.
pub struct OwnedWriteHalf<S: Duplex> {
    stream: Arc<S>,
    ends: bool,
}

pub(crate) fn split<S: Duplex>(stream: &mut S) -> (ReadHalf<'_, S>, WriteHalf<'_, S>) {
    (ReadHalf(stream), WriteHalf(stream))
}

pub(crate) fn into_split<S: Duplex>(stream: S) -> (OwnedReadHalf<S>, OwnedWriteHalf<S>) {
    let stream = Arc::new(stream);
    (OwnedReadHalf { stream: stream.clone() }, OwnedWriteHalf { stream, ends: true })
}

impl<S: Duplex> ReadHalf<'_, S> {
    read_methods!();

    fn io(&self) -> &Async<S::Io> {
        self.0.stream_io()
    }
}

impl<S: Duplex> WriteHalf<'_, S> {
    write_methods!();

    fn io(&self) -> &Async<S::Io> {
        self.0.stream_io()
    }
}

impl<S: Duplex> OwnedReadHalf<S> {
    read_methods!();

    fn io(&self) -> &Async<S::Io> {
        self.stream.stream_io()
    }

    /// Puts the halves of one stream together again.
    ///
    /// # Errors
    ///
    /// Gives the halves back if they are of different streams.
    pub fn reunite(self, other: OwnedWriteHalf<S>) -> Result<S, ReuniteError<S>> {
        if !Arc::ptr_eq(&self.stream, &other.stream) {
            return Err(ReuniteError(self, other));
        }
        other.forget();
        match Arc::try_unwrap(self.stream) {
            Ok(stream) => Ok(stream),
            Err(_) => unreachable!("a stream has two halves, and both were here"),
        }
    }
}

impl<S: Duplex> OwnedWriteHalf<S> {
    write_methods!();

    fn io(&self) -> &Async<S::Io> {
        self.stream.stream_io()
    }

    /// As [`OwnedReadHalf::reunite`].
    ///
    /// # Errors
    ///
    /// Gives the halves back if they are of different streams.
    pub fn reunite(self, other: OwnedReadHalf<S>) -> Result<S, ReuniteError<S>> {
        other.reunite(self)
    }

    /// Ends the direction now: the peer sees the end of the stream.
    ///
    /// # Errors
    ///
    /// What the OS says, `NotConnected` for instance if the peer has reset the connection.
    pub fn shutdown(&self) -> io::Result<()> {
        self.io().shutdown(Shutdown::Write)
    }

    /// Drops the half without ending the direction, which stays open until the other half is dropped.
    pub fn forget(mut self) {
        self.ends = false;
    }
}

impl<S: Duplex> Drop for OwnedWriteHalf<S> {
    fn drop(&mut self) {
        if self.ends {
            // It fails only if there is no peer any more.
            let _ = self.shutdown();
        }
    }
}

/// The stream itself, for its addresses and options.
impl<S> AsRef<S> for ReadHalf<'_, S> {
    fn as_ref(&self) -> &S {
        self.0
    }
}

/// The stream itself, for its addresses and options.
impl<S> AsRef<S> for WriteHalf<'_, S> {
    fn as_ref(&self) -> &S {
        self.0
    }
}

/// The stream itself, for its addresses and options.
impl<S> AsRef<S> for OwnedReadHalf<S> {
    fn as_ref(&self) -> &S {
        &self.stream
    }
}

/// The stream itself, for its addresses and options.
impl<S: Duplex> AsRef<S> for OwnedWriteHalf<S> {
    fn as_ref(&self) -> &S {
        &self.stream
    }
}

impl<S: fmt::Debug> fmt::Debug for OwnedReadHalf<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedReadHalf").field(&self.stream).finish()
    }
}

impl<S: Duplex + fmt::Debug> fmt::Debug for OwnedWriteHalf<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedWriteHalf").field(&self.stream).finish()
    }
}

impl_async_read!([S: Duplex] ReadHalf<'_, S>);
impl_async_read!([S: Duplex] OwnedReadHalf<S>);
impl_async_write!([S: Duplex] WriteHalf<'_, S>);
impl_async_write!([S: Duplex] OwnedWriteHalf<S>);

/// Two halves that are not of one stream.
#[derive(Debug)]
pub struct ReuniteError<S: Duplex>(
    /// The reading half.
    pub OwnedReadHalf<S>,
    /// The writing half.
    pub OwnedWriteHalf<S>,
);

impl<S: Duplex> fmt::Display for ReuniteError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the halves are not of one stream")
    }
}

impl<S: Duplex + fmt::Debug> std::error::Error for ReuniteError<S> {}

/// Ending and taking apart directions, and addresses, for a wrapper of a stream of std.
macro_rules! duplex_methods {
    ($address:ty) => {
        /// Ends one direction or both. After `Shutdown::Write` the peer sees the end of the stream and may
        /// still send. Tasks that wait for a direction that has been ended wake.
        ///
        /// # Errors
        ///
        /// What the OS says, `NotConnected` for instance if the peer has reset the connection.
        pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
            self.io.shutdown(how)
        }

        /// Borrows the directions apart from each other.
        pub fn split(&mut self) -> (ReadHalf<'_, Self>, WriteHalf<'_, Self>) {
            halves::split(self)
        }

        /// Takes the directions apart, for tasks of their own. Dropping the writing half ends its
        /// direction; the socket is closed when both are dropped.
        pub fn into_split(self) -> (OwnedReadHalf<Self>, OwnedWriteHalf<Self>) {
            halves::into_split(self)
        }

        /// The address of this end.
        ///
        /// # Errors
        ///
        /// If the OS cannot tell.
        pub fn local_addr(&self) -> io::Result<$address> {
            self.io.get_ref().local_addr()
        }

        /// The address of the other end.
        ///
        /// # Errors
        ///
        /// `NotConnected` if there is no other end any more.
        pub fn peer_addr(&self) -> io::Result<$address> {
            self.io.get_ref().peer_addr()
        }
    };
}

/// What a wrapper of a stream of std needs to be [`Duplex`] and to have the traits of futures-io.
macro_rules! impl_duplex {
    ($type:ty, $std:ty, SHORT_READ_DRAINS = $drains:literal) => {
        impl $crate::bytes::ByteIo for $std {
            const SHORT_READ_DRAINS: bool = $drains;
            const SHORT_WRITE_FILLS: bool = sys::SHORT_WRITE_FILLS;

            fn reader(&self) -> impl io::Read + '_ {
                self
            }

            fn read_uninit(&self, buf: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
                sys::recv_uninit(sys::descriptor(self), buf)
            }

            fn write(&self, buf: &[u8]) -> io::Result<usize> {
                sys::send(sys::descriptor(self), buf)
            }

            fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
                sys::send_vectored(sys::descriptor(self), bufs)
            }

            fn shutdown(&self, how: Shutdown) -> io::Result<()> {
                self.shutdown(how)
            }
        }

        impl halves::private::Stream for $type {
            type Io = $std;

            fn stream_io(&self) -> &Async<$std> {
                &self.io
            }
        }

        impl halves::Duplex for $type {}

        $crate::methods::impl_async_read!([] $type);
        $crate::methods::impl_async_read!([] &$type);
        $crate::methods::impl_async_write!([] $type);
        $crate::methods::impl_async_write!([] &$type);
    };
}

pub(crate) use {duplex_methods, impl_duplex};
