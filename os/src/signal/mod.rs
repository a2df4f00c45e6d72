//! Signals from the OS.
//!
//! | to receive | use |
//! |---|---|
//! | Ctrl-C, on every system | [`ctrl_c`] |
//! | requests to end the process, on every system | [`termination()`] |
//! | any signal of Unix | `unix::signal`, on Unix only |
//! | the other events of a console | `windows`, on Windows only |
//!
//! A listener belongs to the runtime that is current when it is created, or to the global runtime if there is none.
//! There can be any number of listeners, in any number of runtimes. Each of them receives every signal that arrives
//! after it was created, even before the first wait. Signals that arrive faster than a listener receives them become
//! one, as in the OS itself.
//!
//! **The first listener of a signal permanently replaces its default action**, which is usually to end the process. The
//! action is not restored when all listeners are dropped, except on Windows. A handler that was installed before, for
//! example by a C library, is still called.
//!
//! # How it works
//!
//! A handler counts the signals, and writes to a socket that the runtime's poller watches. No thread is needed, and
//! listeners receive signals even while all workers are blocked. The crate `signal-hook-registry` is not used, because
//! installing and chaining handlers takes only a hundred lines here. Both can be used in one program.
//!
//! # Examples
//!
//! A server that ends on Ctrl-C:
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
// Unix has signals, and Windows has events of a console.
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
/// The future receives a signal that arrives after this call, even before the first poll. From this call on, Ctrl-C no
/// longer ends the process: call the function again to receive the next one, or end the process yourself.
///
/// Dropping the future loses nothing but the signal that it has received.
///
/// # Errors
///
/// Awaiting it returns an error if descriptors have run out, or if the runtime shuts down.
///
/// # Examples
///
/// ```no_run
/// # windlass::block_on(async {
/// println!("waiting for Ctrl-C");
/// windlass::signal::ctrl_c().await?;
/// println!("received");
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub fn ctrl_c() -> CtrlC {
    CtrlC { news: Listener::new(sys::INTERRUPT).map(News::new).map_err(Some) }
}

/// The future that [`ctrl_c`] returns.
#[must_use = "futures do nothing unless they are awaited"]
pub struct CtrlC {
    /// The listener, or the error of creating it, which is returned once.
    news: Result<News, Option<io::Error>>,
}

impl Future for CtrlC {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.news {
            Ok(news) => news.poll_next(cx),
            Err(reason) => Poll::Ready(Err(reason.take().expect("polled after completion"))),
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
    /// A wait that `poll_next` has started. It gives the listener back.
    Waiting(Pin<Box<dyn Future<Output = (Listener, io::Result<()>)> + Send + Sync>>),
    /// Between the two.
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
