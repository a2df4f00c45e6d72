//! Signals of Unix. Not available on Windows.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use libc::c_int;

use super::News;
use crate::sys::Listener;

/// A kind of signal.
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
            $(#[doc = concat!("Returns `", stringify!($signal), "`: ", $text, ".")]
            ///
            /// # Examples
            ///
            /// ```
            /// use windlass::signal::unix::SignalKind;
            ///
            #[doc = concat!("assert_eq!(SignalKind::", stringify!($name), "().as_raw_value(), libc::", stringify!($signal), ");")]
            /// ```
            pub const fn $name() -> Self {
                Self(libc::$signal)
            })*
        }
    };
}

kinds! {
    alarm SIGALRM "a timer of the process has fired"
    child SIGCHLD "a child has ended, stopped or continued"
    hangup SIGHUP "the terminal was closed; daemons reload their settings"
    interrupt SIGINT "Ctrl-C"
    io SIGIO "a descriptor is ready"
    pipe SIGPIPE "a write to a pipe without a reader"
    quit SIGQUIT "Ctrl-\\\\"
    terminate SIGTERM "a request to end the process"
    user_defined1 SIGUSR1 "for the program's own use"
    user_defined2 SIGUSR2 "for the program's own use"
    window_change SIGWINCH "the size of the terminal has changed"
}

impl SignalKind {
    /// Creates a kind from a signal's number, which is checked when a listener is created.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::signal::unix::SignalKind;
    ///
    /// assert_eq!(SignalKind::from_raw(libc::SIGINT), SignalKind::interrupt());
    /// ```
    pub const fn from_raw(signal: c_int) -> Self {
        Self(signal)
    }

    /// Returns the signal's number.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::signal::unix::SignalKind;
    ///
    /// assert_eq!(SignalKind::interrupt().as_raw_value(), libc::SIGINT);
    /// ```
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

/// Listens for a signal from now on, on the current runtime (or the global one if there is none).
///
/// From now on, the signal's default action no longer takes place in this process; see [the module](super).
///
/// # Errors
///
/// Returns an error if the OS has no such signal or does not allow handling it (`SIGKILL`,
/// `SIGSTOP`), for signals that report a fault of the program (`SIGSEGV`, `SIGILL`, `SIGFPE`), if
/// descriptors have run out, or if the runtime is shutting down.
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

/// Receives a signal repeatedly; see [`signal`]. It is also a [`Stream`].
pub struct Signal {
    news: News,
    kind: SignalKind,
}

impl Signal {
    /// Waits for the signal. Returns `None` if the runtime that the listener belongs to has shut down.
    ///
    /// Dropping the future loses no signal.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use windlass::signal::unix::{SignalKind, signal};
    ///
    /// # windlass::block_on(async {
    /// let mut sizes = signal(SignalKind::window_change())?;
    /// while sizes.recv().await.is_some() {
    ///     println!("the size of the terminal has changed");
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn recv(&mut self) -> Option<()> {
        self.news.next().await.ok()
    }

    /// Does what [`recv`](Self::recv) does, for poll functions.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use windlass::signal::unix::{SignalKind, signal};
    ///
    /// # windlass::block_on(async {
    /// let mut sizes = signal(SignalKind::window_change())?;
    /// std::future::poll_fn(|cx| sizes.poll_recv(cx)).await;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
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
