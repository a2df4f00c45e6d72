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

/// Accepts, passing over connections that their clients gave up while they were queued.
pub(crate) fn skip_aborted<R>(mut accept: impl FnMut() -> io::Result<R>) -> io::Result<R> {
    loop {
        match accept() {
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_given_up_are_passed_over_and_other_errors_are_not() {
        use io::ErrorKind::{ConnectionAborted, OutOfMemory};
        let mut results = vec![Err(ConnectionAborted.into()), Err(ConnectionAborted.into()), Ok(3)];
        assert_eq!(skip_aborted(|| results.remove(0)).unwrap(), 3);
        let refused: io::Result<()> = skip_aborted(|| Err(OutOfMemory.into()));
        assert_eq!(refused.unwrap_err().kind(), OutOfMemory);
    }
}
