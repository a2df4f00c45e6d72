//! A listener's connections as a stream, and the methods that listeners share.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

/// An endless stream of the connections that a listener accepts; see [`TcpListener::incoming`].
///
/// It implements [`Stream`]. One task at a time can wait that way: the last one that polled. The method
/// [`next`](Self::next) is for programs without a crate of stream adapters.
///
/// # Examples
///
/// ```
/// use windlass::net::{TcpListener, TcpStream};
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// # let client = TcpStream::connect(listener.local_addr()?).await?;
/// let mut incoming = listener.incoming();
/// while let Some(stream) = incoming.next().await {
///     stream?.write_all(b"welcome").await?;
///     # break;
/// }
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
///
/// [`TcpListener::incoming`]: crate::TcpListener::incoming
#[derive(Debug)]
#[must_use = "connections are accepted only when they are asked for"]
pub struct Incoming<'a, L> {
    listener: &'a L,
}

/// The methods of a listener that [`Incoming`] needs. It is public in a private module, so other crates can't implement
/// it.
pub trait Listener {
    /// An accepted connection.
    type Stream;

    /// Accepts a connection.
    fn accept_stream(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
    /// Accepts a connection, for poll functions.
    fn poll_accept_stream(&self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Stream>>;
}

impl<'a, L: Listener> Incoming<'a, L> {
    pub(crate) fn new(listener: &'a L) -> Self {
        Self { listener }
    }

    /// Accepts the next connection. Never returns `None`; the `Option` is there because streams have it.
    ///
    /// Dropping the future loses no connection.
    ///
    /// # Errors
    ///
    /// Returns the same errors as `accept`.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let mut incoming = listener.incoming();
    /// let stream = incoming.next().await.unwrap()?;
    /// # assert_eq!(stream.peer_addr()?, client.local_addr()?);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn next(&mut self) -> Option<io::Result<L::Stream>> {
        Some(self.listener.accept_stream().await)
    }
}

impl<L: Listener> Stream for Incoming<'_, L> {
    type Item = io::Result<L::Stream>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.listener.poll_accept_stream(cx).map(Some)
    }
}

/// Accepts a connection, and skips those that were closed by their clients while they were queued. Unix reports these
/// as `ConnectionAborted`, Windows as `ConnectionReset`.
pub(crate) fn skip_aborted<R>(mut accept: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset};
    loop {
        match accept() {
            Err(error) if matches!(error.kind(), ConnectionAborted | ConnectionReset) => {}
            result => return result,
        }
    }
}

/// Defines the methods for accepting, for a wrapper of a listener of std. Its file has the functions `next`, which
/// takes a connection without waiting, and `registered`, which makes a `$stream` of it.
macro_rules! listener_methods {
    ($stream:ty, $address:ty) => {
        /// Accepts the next connection, and returns it with the address of its peer.
        ///
        /// Several tasks can accept at the same time. Dropping the future loses no connection: one that was not
        /// returned stays in the queue.
        ///
        /// # Errors
        ///
        /// Returns an error if descriptors have run out
        /// ([what to do then](crate::TcpListener#when-descriptors-run-out)), or if the runtime shuts down. If a
        /// connection was taken from the queue and the OS refuses to poll it, because memory or its limit of watched
        /// descriptors has run out, the connection is closed and the error returned.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let client = TcpStream::connect(listener.local_addr()?).await?;
        /// let (stream, peer) = listener.accept().await?;
        /// assert_eq!(peer, client.local_addr()?);
        /// # drop(stream);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn accept(&self) -> io::Result<($stream, $address)> {
            self.io.read_with(|_| self.io.accept_with(next)).await.and_then(registered)
        }

        /// Does what [`accept`](Self::accept) does, for poll functions.
        ///
        /// One task at a time can wait this way: the last one that polled.
        ///
        /// # Errors
        ///
        /// Returns the same errors as [`accept`](Self::accept).
        ///
        /// # Examples
        ///
        /// ```
        /// use std::future::poll_fn;
        ///
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let client = TcpStream::connect(listener.local_addr()?).await?;
        /// let (stream, peer) = poll_fn(|cx| listener.poll_accept(cx)).await?;
        /// assert_eq!(peer, client.local_addr()?);
        /// # drop(stream);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<($stream, $address)>> {
            let next = |_: &_| self.io.accept_with(next);
            self.io.poll_read_with(cx, next).map(|result| result.and_then(registered))
        }

        /// Accepts a connection if one is in the queue.
        ///
        /// # Errors
        ///
        /// Returns `WouldBlock` if there is none; after that, [`readable`](Self::readable) waits. Otherwise returns the
        /// same errors as [`accept`](Self::accept).
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let client = TcpStream::connect(listener.local_addr()?).await?;
        /// listener.readable().await?;
        /// let (stream, peer) = listener.try_accept()?;
        /// assert_eq!(peer, client.local_addr()?);
        /// # drop(stream);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn try_accept(&self) -> io::Result<($stream, $address)> {
            self.io.try_read_with(|_| self.io.accept_with(next)).and_then(registered)
        }

        /// Returns the connections as a stream.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::{TcpListener, TcpStream};
        /// # windlass::block_on(async {
        /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// # let client = TcpStream::connect(listener.local_addr()?).await?;
        /// let stream = listener.incoming().next().await.unwrap()?;
        /// # assert_eq!(stream.peer_addr()?, client.local_addr()?);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn incoming(&self) -> Incoming<'_, Self> {
            Incoming::new(self)
        }

        /// Returns true if another process, or another descriptor of this one, may have the same socket, and so the
        /// same queue.
        ///
        /// This is assumed of listeners that come from elsewhere, through `from_std` or from a descriptor: from a
        /// supervisor such as systemd, or from the process that this one replaces. A listener that was bound here is
        /// assumed to be this process's own.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::TcpListener;
        /// # windlass::block_on(async {
        /// assert!(!TcpListener::bind("127.0.0.1:0").await?.is_shared());
        /// let inherited = std::net::TcpListener::bind("127.0.0.1:0")?;
        /// assert!(TcpListener::from_std(inherited)?.is_shared());
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn is_shared(&self) -> bool {
            self.is_shared
        }

        /// Sets whether the socket is assumed to be shared; see [`is_shared`](Self::is_shared) and
        /// [`refuse_new`](Self::refuse_new).
        ///
        /// Call this in a program that hands its socket to the process that replaces it.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::TcpListener;
        /// # windlass::block_on(async {
        /// // Made by another crate, and nobody else has it.
        /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        /// let mut listener = TcpListener::from_std(listener)?;
        /// listener.set_shared(false);
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn set_shared(&mut self, shared: bool) {
            self.is_shared = shared;
        }

        /// Returns the address that the listener is bound to.
        ///
        /// # Errors
        ///
        /// Returns an error if the OS reports one.
        ///
        /// # Examples
        ///
        /// ```
        /// # use windlass::net::TcpListener;
        /// # windlass::block_on(async {
        /// let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// assert_ne!(listener.local_addr()?.port(), 0); // the OS has chosen one
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub fn local_addr(&self) -> io::Result<SocketAddr> {
            self.io.get_ref().local_addr()
        }
    };
}

macro_rules! impl_listener {
    ($type:ty, $stream:ty) => {
        impl $crate::incoming::Listener for $type {
            type Stream = $stream;

            async fn accept_stream(&self) -> io::Result<$stream> {
                Ok(self.accept().await?.0)
            }

            fn poll_accept_stream(&self, cx: &mut Context<'_>) -> Poll<io::Result<$stream>> {
                self.poll_accept(cx).map_ok(|(stream, _)| stream)
            }
        }
    };
}

pub(crate) use {impl_listener, listener_methods};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_given_up_are_passed_over_and_other_errors_are_not() {
        use io::ErrorKind::{ConnectionAborted, ConnectionReset, OutOfMemory};
        let mut results = vec![Err(ConnectionAborted.into()), Err(ConnectionReset.into()), Ok(3)];
        assert_eq!(skip_aborted(|| results.remove(0)).unwrap(), 3);
        let refused: io::Result<()> = skip_aborted(|| Err(OutOfMemory.into()));
        assert_eq!(refused.unwrap_err().kind(), OutOfMemory);
    }
}
