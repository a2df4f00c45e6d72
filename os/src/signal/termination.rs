//! Requests to end the process, on every system.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::News;
use crate::sys::{self, Listener};

/// Listens for requests to end the process, from now on, on the current runtime (or the global one if there is none).
///
/// On Unix these are `SIGINT` (Ctrl-C) and `SIGTERM`. On Windows they are Ctrl-C, Ctrl-Break, the
/// console being closed and the system shutting down.
///
/// The requests no longer end the process by themselves; see [the module](super). A program that receives one should
/// end soon, and at once if it receives a second one. `serve::Drain::on_signals` does that for a server.
///
/// # Errors
///
/// Returns an error if descriptors have run out, if the OS refuses a handler, or if the runtime is shutting down.
///
/// # Examples
///
/// ```no_run
/// # windlass::block_on(async {
/// let mut requests = windlass::signal::termination()?;
/// requests.recv().await;
/// println!("coming to an end");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub fn termination() -> io::Result<Termination> {
    let listen = |number: &_| Listener::new(*number).map(News::new);
    Ok(Termination { news: sys::TERMINATIONS.iter().map(listen).collect::<io::Result<_>>()? })
}

/// Receives requests to end the process; see [`termination`]. It is also a [`Stream`].
pub struct Termination {
    news: Vec<News>,
}

impl Termination {
    /// Waits for the next request. Returns `None` if the runtime that the listener belongs to has shut down.
    ///
    /// Requests of one kind that arrive faster than they are received become one. Dropping the future loses none.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # windlass::block_on(async {
    /// let mut requests = windlass::signal::termination()?;
    /// requests.recv().await; // the first: end when convenient
    /// requests.recv().await; // the second: end now
    /// std::process::exit(1);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn recv(&mut self) -> Option<()> {
        std::future::poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// Does what [`recv`](Self::recv) does, for poll functions.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # windlass::block_on(async {
    /// let mut requests = windlass::signal::termination()?;
    /// std::future::poll_fn(|cx| requests.poll_recv(cx)).await;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        // Takes the first that is ready. The others are polled by the next call, and lose nothing until then.
        let ready = self.news.iter_mut().find_map(|news| match news.poll_next(cx) {
            Poll::Ready(heard) => Some(heard.ok()),
            Poll::Pending => None,
        });
        ready.map_or(Poll::Pending, Poll::Ready)
    }
}

impl Stream for Termination {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.poll_recv(cx)
    }
}

impl fmt::Debug for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Termination").finish_non_exhaustive()
    }
}
