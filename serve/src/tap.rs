//! A listener that does something with each connection.

use std::fmt;
use std::io;

use crate::Listener;

/// Methods of every [`Listener`].
pub trait ListenerExt: Listener + Sized {
    /// Calls `tap` with each connection right after it was accepted, for example to set an option of its socket.
    ///
    /// The server's task calls it, and accepts nothing else meanwhile, so it should not take long.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::net::TcpListener;
    /// use windlass::serve::{Drain, ListenerExt};
    ///
    /// # windlass::block_on(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?.tap_io(|stream| {
    ///     if let Err(error) = stream.set_nodelay(true) {
    ///         eprintln!("a connection without TCP_NODELAY: {error}");
    ///     }
    /// });
    /// let drain = Drain::new();
    /// # drain.switch().flip();
    /// drain.serve(listener, |_stream, _peer, _told| async {}).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    fn tap_io<F>(self, tap: F) -> TapIo<Self, F>
    where
        F: Fn(&mut Self::Stream) + Send + Sync + 'static,
    {
        TapIo { listener: self, tap }
    }
}

impl<L: Listener> ListenerExt for L {}

/// A listener that does something with each connection; see [`ListenerExt::tap_io`].
pub struct TapIo<L, F> {
    listener: L,
    tap: F,
}

impl<L, F> Listener for TapIo<L, F>
where
    L: Listener,
    F: Fn(&mut L::Stream) + Send + Sync + 'static,
{
    type Stream = L::Stream;
    type Addr = L::Addr;

    async fn accept(&self) -> io::Result<(L::Stream, L::Addr)> {
        let (mut stream, peer) = self.listener.accept().await?;
        (self.tap)(&mut stream);
        Ok((stream, peer))
    }

    fn try_accept(&self) -> io::Result<(L::Stream, L::Addr)> {
        let (mut stream, peer) = self.listener.try_accept()?;
        (self.tap)(&mut stream);
        Ok((stream, peer))
    }

    fn refuse_new(&self) -> io::Result<bool> {
        self.listener.refuse_new()
    }

    fn local_addr(&self) -> io::Result<L::Addr> {
        self.listener.local_addr()
    }
}

impl<L: fmt::Debug, F> fmt::Debug for TapIo<L, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TapIo").field("listener", &self.listener).finish_non_exhaustive()
    }
}
