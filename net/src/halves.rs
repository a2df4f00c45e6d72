//! The reading and the writing half of a stream, as separate values.

mod duplex;
mod whole;

use std::fmt;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::Async;
use crate::bytes::ByteIo;
use crate::methods::{impl_async_read, impl_async_write, read_methods, write_methods};

pub(crate) use duplex::{duplex_methods, impl_duplex};
pub(crate) use whole::addresses;

/// A stream that can be split into two halves: [`TcpStream`](crate::TcpStream) and `UnixStream`.
pub trait Duplex: private::Stream {}

pub(crate) mod private {
    use super::{Async, ByteIo};

    /// The stream behind two halves.
    pub trait Stream {
        type Io: ByteIo;
        fn stream_io(&self) -> &Async<Self::Io>;
    }
}

/// The borrowed reading half of a stream; see [`TcpStream::split`](crate::TcpStream::split).
#[derive(Debug)]
pub struct ReadHalf<'a, S>(&'a S);

/// The borrowed writing half of a stream; see [`TcpStream::split`](crate::TcpStream::split).
#[derive(Debug)]
pub struct WriteHalf<'a, S>(&'a S);

/// The owned reading half of a stream; see [`TcpStream::into_split`](crate::TcpStream::into_split).
///
/// Dropping it leaves both directions open until the other half is dropped as well.
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
#[derive(Debug)]
pub struct OwnedReadHalf<S>(Arc<S>);

/// The owned writing half of a stream; see [`TcpStream::into_split`](crate::TcpStream::into_split).
///
/// **Dropping it shuts its direction down**: the peer sees the end of the stream. [`forget`](Self::forget) drops it
/// without doing so.
pub struct OwnedWriteHalf<S: Duplex> {
    stream: Arc<S>,
    ends: bool,
}

/// Defines the halves of one kind of stream under their names in tokio, where they are separate types.
macro_rules! half_aliases {
    ($stream:ident) => {
        #[doc = concat!("The borrowed reading half of a [`", stringify!($stream), "`].")]
        pub type ReadHalf<'a> = $crate::ReadHalf<'a, $stream>;
        #[doc = concat!("The borrowed writing half of a [`", stringify!($stream), "`].")]
        pub type WriteHalf<'a> = $crate::WriteHalf<'a, $stream>;
        #[doc = concat!("The owned reading half of a [`", stringify!($stream), "`].")]
        pub type OwnedReadHalf = $crate::OwnedReadHalf<$stream>;
        #[doc = concat!("The owned writing half of a [`", stringify!($stream), "`].")]
        pub type OwnedWriteHalf = $crate::OwnedWriteHalf<$stream>;
        #[doc = concat!("The error of joining halves of two [`", stringify!($stream), "`]s.")]
        pub type ReuniteError = $crate::ReuniteError<$stream>;
    };
}

pub(crate) use half_aliases;

pub(crate) fn split<S: Duplex>(stream: &mut S) -> (ReadHalf<'_, S>, WriteHalf<'_, S>) {
    (ReadHalf(stream), WriteHalf(stream))
}

pub(crate) fn into_split<S: Duplex>(stream: S) -> (OwnedReadHalf<S>, OwnedWriteHalf<S>) {
    let stream = Arc::new(stream);
    (OwnedReadHalf(stream.clone()), OwnedWriteHalf { stream, ends: true })
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
        self.0.stream_io()
    }

    /// Joins the halves of one stream again.
    ///
    /// # Errors
    ///
    /// Returns the halves if they belong to different streams.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (stream, _) = listener.accept().await?;
    /// let (reader, writer) = stream.into_split();
    /// let stream = reader.reunite(writer).unwrap();
    /// # drop((stream, peer));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn reunite(self, other: OwnedWriteHalf<S>) -> Result<S, ReuniteError<S>> {
        if !Arc::ptr_eq(&self.0, &other.stream) {
            return Err(ReuniteError(self, other));
        }
        other.forget();
        Ok(Arc::into_inner(self.0).expect("a stream has two halves, and both were here"))
    }
}

impl<S: Duplex> OwnedWriteHalf<S> {
    write_methods!();

    fn io(&self) -> &Async<S::Io> {
        self.stream.stream_io()
    }

    /// Joins the halves of one stream again, like [`OwnedReadHalf::reunite`].
    ///
    /// # Errors
    ///
    /// Returns the halves if they belong to different streams.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (stream, _) = listener.accept().await?;
    /// let (reader, writer) = stream.into_split();
    /// let stream = writer.reunite(reader).unwrap();
    /// # drop((stream, peer));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn reunite(self, other: OwnedReadHalf<S>) -> Result<S, ReuniteError<S>> {
        other.reunite(self)
    }

    /// Shuts the direction down: the peer sees the end of the stream.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `NotConnected` if the peer has reset the connection.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (stream, _) = listener.accept().await?;
    /// let (_reader, writer) = stream.into_split();
    /// writer.write_all(b"the last").await?;
    /// writer.shutdown()?;
    /// let mut received = Vec::new();
    /// peer.read_to_end(&mut received).await?;
    /// assert_eq!(received, b"the last");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn shutdown(&self) -> io::Result<()> {
        self.io().shutdown(Shutdown::Write)
    }

    /// Drops the half without shutting its direction down. It stays open until the other half is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let peer = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (stream, _) = listener.accept().await?;
    /// let (reader, writer) = stream.into_split();
    /// writer.forget();
    /// assert_eq!(peer.try_read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    /// # drop(reader);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn forget(mut self) {
        self.ends = false;
    }
}

impl<S: Duplex> Drop for OwnedWriteHalf<S> {
    fn drop(&mut self) {
        if self.ends {
            // It fails only if the connection is gone already.
            let _ = self.shutdown();
        }
    }
}

/// Returns the stream itself, for its addresses and options.
impl<S> AsRef<S> for ReadHalf<'_, S> {
    fn as_ref(&self) -> &S {
        self.0
    }
}

/// Returns the stream itself, for its addresses and options.
impl<S> AsRef<S> for WriteHalf<'_, S> {
    fn as_ref(&self) -> &S {
        self.0
    }
}

/// Returns the stream itself, for its addresses and options.
impl<S> AsRef<S> for OwnedReadHalf<S> {
    fn as_ref(&self) -> &S {
        &self.0
    }
}

/// Returns the stream itself, for its addresses and options.
impl<S: Duplex> AsRef<S> for OwnedWriteHalf<S> {
    fn as_ref(&self) -> &S {
        &self.stream
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

/// The error of joining two halves that belong to different streams. It contains both.
#[derive(Debug)]
pub struct ReuniteError<S: Duplex>(
    /// The reading half.
    pub OwnedReadHalf<S>,
    /// The writing half.
    pub OwnedWriteHalf<S>,
);

impl<S: Duplex> fmt::Display for ReuniteError<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the halves belong to different streams")
    }
}

impl<S: Duplex + fmt::Debug> std::error::Error for ReuniteError<S> {}
