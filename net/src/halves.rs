//! The two directions of a stream, as values of their own.

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::sync::Arc;

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
        self.io().get_ref().shutdown(Shutdown::Write)
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
