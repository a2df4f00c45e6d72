//! Signals of the OS, as they come.
//!
//! | to hear of | use |
//! |---|---|
//! | Ctrl-C, on every system | [`ctrl_c`] |
//! | requests to end the process, on every system | [`termination()`] |
//! | any signal of Unix | `unix::signal`, which Windows does not have |
//! | the other events of a console of Windows | `windows`, which only Windows has |
//!
//! A listener belongs to the runtime that is current when it is made (the global one outside of any). Any number
//! of listeners, of any number of runtimes, hear of each signal, from the moment on when they are made: one that comes
//! before the first wait is not lost. Signals that come faster than a listener looks become one, as they do with the OS
//! itself.
//!
//! **The first listener of a signal changes what that does to the process, for good.** Its default action, which is to
//! end the process in most cases, does not take place any more, not even when all listeners have gone. A handler that
//! was installed before, by a C library for instance, is still called. (On Windows the default action is back when the
//! last listener has gone.)
//!
//! # How it works
//!
//! A handler counts the signals and writes to a socket that the runtime's poller watches. There is no thread for it, and
//! listeners hear of signals also while all workers are stuck in code that blocks. No crate is behind it:
//! `signal-hook-registry` would do the part that installs and chains handlers, which is a hundred lines here, and works
//! side by side with this.
//!
//! # Examples
//!
//! A server that ends when it is told to:
//!
//! ```no_run
//! # async fn serve() {}
//! # windlass::block_on(async {
//! let server = windlass::spawn(serve());
//! windlass::signal::ctrl_c().await?;
//! server.abort();
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```

mod termination;
// Signals are a thing of Unix, and consoles send events on Windows only.
#[cfg(unix)]
pub mod unix;
#[cfg(windows)]
pub mod windows;

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

pub use termination::{Termination, termination};

use crate::sys::{self, Listener};

/// Completes when the user presses Ctrl-C (`SIGINT` on Unix).
///
/// The future hears of what comes after this call, whenever it is polled first. From then on Ctrl-C does not end the
/// process any more: call this again to hear of the next, or end the process yourself.
///
/// Dropping the future loses nothing but the signal that it has heard of.
///
/// # Errors
///
/// When the future is awaited: if descriptors have run out, or if the runtime shuts down.
///
/// # Examples
///
/// ```no_run
/// # windlass::block_on(async {
/// println!("waiting for Ctrl-C");
/// windlass::signal::ctrl_c().await?;
/// println!("on with it");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub fn ctrl_c() -> CtrlC {
    CtrlC { news: Listener::new(sys::INTERRUPT).map(News::new).map_err(Some) }
}

/// The future that [`ctrl_c`] returns.
#[must_use = "futures do nothing unless they are awaited"]
pub struct CtrlC {
    /// Or why there is none; the reason is told once.
    news: Result<News, Option<io::Error>>,
}

impl Future for CtrlC {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.news {
            Ok(news) => news.poll_next(cx),
            Err(reason) => Poll::Ready(Err(reason.take().expect("polled after it has ended"))),
        }
    }
}

impl fmt::Debug for CtrlC {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CtrlC").finish_non_exhaustive()
    }
}

/// A listener that can be polled.
pub(crate) struct News {
    state: State,
}

enum State {
    Idle(Listener),
    /// A wait that `poll_next` has begun. The listener comes back from it.
    Waiting(Pin<Box<dyn Future<Output = (Listener, io::Result<()>)> + Send + Sync>>),
    /// While it is moved from one to the other.
    Moving,
}

impl News {
    pub(crate) fn new(listener: Listener) -> Self {
        Self { state: State::Idle(listener) }
    }

    pub(crate) async fn next(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let State::Idle(_) = self.state {
            let State::Idle(mut listener) = std::mem::replace(&mut self.state, State::Moving)
            else {
                unreachable!("it was idle the moment before");
            };
            self.state = State::Waiting(Box::pin(async move {
                let heard = listener.heard().await;
                (listener, heard)
            }));
        }
        let State::Waiting(wait) = &mut self.state else {
            unreachable!("a wait has begun");
        };
        let (listener, heard) = ready!(wait.as_mut().poll(cx));
        self.state = State::Idle(listener);
        Poll::Ready(heard)
    }
}
