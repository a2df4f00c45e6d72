//! Signals of Unix. Not on Windows.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use libc::c_int;

use super::News;
use crate::sys::Listener;

/// Which signal.
///
/// # Examples
///
/// ```
/// use windlass::signal::unix::SignalKind;
///
/// assert_eq!(SignalKind::interrupt().as_raw_value(), libc::SIGINT);
/// assert_eq!(SignalKind::from_raw(libc::SIGWINCH), SignalKind::window_change());
/// ```
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub struct SignalKind(c_int);

macro_rules! kinds {
    ($($name:ident $signal:ident $text:literal)*) => {
        impl SignalKind {
            $(#[doc = concat!("`", stringify!($signal), "`: ", $text, ".")]
            pub const fn $name() -> Self {
                Self(libc::$signal)
            })*
        }
    };
}

kinds! {
    alarm SIGALRM "a timer of the process has gone off"
    child SIGCHLD "a child has ended, stopped or gone on"
    hangup SIGHUP "the terminal has gone; daemons read their settings again"
    interrupt SIGINT "Ctrl-C"
    io SIGIO "a descriptor is ready"
    pipe SIGPIPE "written to a pipe without a reader"
    quit SIGQUIT "Ctrl-\\\\"
    terminate SIGTERM "the process is to end"
    user_defined1 SIGUSR1 "what the program likes"
    user_defined2 SIGUSR2 "what the program likes"
    window_change SIGWINCH "the terminal has another size"
}

impl SignalKind {
    /// A signal by its number. Whether there is such a signal is seen when it is listened for.
    pub const fn from_raw(signal: c_int) -> Self {
        Self(signal)
    }

    /// The signal's number.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }
}

impl From<c_int> for SignalKind {
    fn from(signal: c_int) -> Self {
        Self(signal)
    }
}

impl From<SignalKind> for c_int {
    fn from(kind: SignalKind) -> Self {
        kind.0
    }
}

/// Listens for a signal from now on, on the current runtime (the global one outside of any).
///
/// What the signal did to the process by default is no longer done, for as long as the process lives; see
/// [the module](super).
///
/// # Errors
///
/// If the OS has no such signal or lets nobody handle it (`SIGKILL`, `SIGSTOP`), for those that tell of a broken program
/// (`SIGSEGV`, `SIGILL`, `SIGFPE`), if descriptors have run out, or if the runtime is shutting down.
///
/// # Examples
///
/// ```no_run
/// use windlass::signal::unix::{SignalKind, signal};
///
/// # fn read_settings() {}
/// # windlass::block_on(async {
/// let mut hangups = signal(SignalKind::hangup())?;
/// while hangups.recv().await.is_some() {
///     read_settings();
/// }
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    Ok(Signal { news: News::new(Listener::new(kind.0)?), kind })
}

/// Hears of a signal again and again; see [`signal`]. It is a [`Stream`], too.
pub struct Signal {
    news: News,
    kind: SignalKind,
}

impl Signal {
    /// Waits for the signal; `None` if the runtime that the listener was made on has shut down.
    ///
    /// Dropping the future loses no signal.
    pub async fn recv(&mut self) -> Option<()> {
        self.news.next().await.ok()
    }

    /// Does what [`recv`](Self::recv) does, for poll functions.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.news.poll_next(cx).map(Result::ok)
    }
}

impl Stream for Signal {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.poll_recv(cx)
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").field("kind", &self.kind).finish_non_exhaustive()
    }
}
