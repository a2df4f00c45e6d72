//! The connections of a listener, one after the other.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

/// The connections that a listener accepts, without end: [`TcpListener::incoming`] and the like.
///
/// It is a [`Stream`] (one task at a time can wait by way of that: the last that polled), and has
/// a [`next`](Self::next) of its own for programs without a crate of stream adapters.
///
/// [`TcpListener::incoming`]: crate::TcpListener::incoming
#[derive(Debug)]
#[must_use = "connections are accepted only when they are asked for"]
pub struct Incoming<'a, L> {
    listener: &'a L,
}

/// What [`Incoming`] needs of a listener. Public in a private module: nobody else can implement it.
pub trait Listener {
    /// An accepted connection.
    type Stream;

    /// Accepts a connection.
    fn accept_stream(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
    /// Accepts a connection.
    fn poll_accept_stream(&self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Stream>>;
}

impl<'a, L: Listener> Incoming<'a, L> {
    pub(crate) fn new(listener: &'a L) -> Self {
        Self { listener }
    }

    /// The next connection. It is an `Option` as streams have it, but never `None`.
    ///
    /// Dropping the future loses no connection.
    ///
    /// # Errors
    ///
    /// As for `accept`.
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

/// Accepts, passing over connections that their clients gave up while they were queued. The first kind
/// of error is what Unix calls that, the second what Windows does.
pub(crate) fn skip_aborted<R>(mut accept: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset};
    loop {
        match accept() {
            Err(error) if matches!(error.kind(), ConnectionAborted | ConnectionReset) => {}
            result => return result,
        }
    }
}

/// Accepting, for a wrapper of a listener of std; its file has the functions `next`, which takes a
/// connection without waiting, and `registered`, which makes a `$stream` of it.
macro_rules! listener_methods {
    ($stream:ty, $address:ty) => {
        /// Takes the next connection, and the address of its peer. Several tasks may accept at a time.
        ///
        /// Dropping the future loses no connection: one that was not returned is still in the queue.
        ///
        /// # Errors
        ///
        /// If descriptors have run out
        /// ([what to do then](crate::TcpListener#when-descriptors-run-out)), or if the runtime shuts down.
        pub async fn accept(&self) -> io::Result<($stream, $address)> {
            self.io.read_with(|_| self.io.accept_with(next)).await.and_then(registered)
        }

        /// As [`accept`](Self::accept), for poll functions. One task at a time: the last that polled.
        ///
        /// # Errors
        ///
        /// As for [`accept`](Self::accept).
        pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<($stream, $address)>> {
            let next = |_: &_| self.io.accept_with(next);
            self.io.poll_read_with(cx, next).map(|result| result.and_then(registered))
        }

        /// Takes a connection if there is one.
        ///
        /// # Errors
        ///
        /// `WouldBlock` if there is none; [`readable`](Self::readable) waits then. Otherwise as for
        /// [`accept`](Self::accept).
        pub fn try_accept(&self) -> io::Result<($stream, $address)> {
            self.io.try_read_with(|_| self.io.accept_with(next)).and_then(registered)
        }

        /// The connections as a stream.
        pub fn incoming(&self) -> Incoming<'_, Self> {
            Incoming::new(self)
        }

        /// The address it listens on.
        ///
        /// # Errors
        ///
        /// If the OS cannot tell.
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
