//! An auto-reset event that is an object of the OS, so that anyone who has it can signal it.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use crate::sys;

/// An auto-reset event that foreign code can signal, too: a C library, another process that was given
/// its descriptor, whatever can `write(2)`. Within one program `AutoResetEvent` does the same for less.
///
/// - Waiting on a set event takes the signal and returns at once, without suspending.
/// - Waiting on an unset one suspends until it is set.
/// - [`set`](Self::set) on a set event changes nothing. Signals are not counted: however often it was
///   set before a waiter came round, one waiter takes the signal. That also holds for waiters that are
///   suspended already, so with several of them each wants a `set` of its own that nobody has taken
///   the place of; prefer one waiter an event.
///
/// That there is one signal and one taker is the kernel's doing on Linux (an eventfd), so it holds
/// between processes. On macOS and the BSDs it is a pipe: others can signal the event, but only this
/// process can take it.
///
/// The event belongs to no runtime until somebody suspends on it; then it belongs to the runtime of
/// that task, and tasks of other runtimes may wait as well. When that runtime shuts down, waits that are under way
/// end with an error; the next belongs to the runtime of its task.
///
/// # Examples
///
/// ```
/// use std::io::Write;
/// use std::os::fd::AsFd;
/// use windlass::sync::os::Event;
///
/// # windlass::block_on(async {
/// let event = Event::new(false)?;
/// event.set()?;
/// event.wait().await?;
/// assert!(!event.is_set()?);
///
/// // What foreign code does:
/// let mut descriptor = std::fs::File::from(event.as_fd().try_clone_to_owned()?);
/// descriptor.write_all(&1_u64.to_ne_bytes())?;
/// event.wait().await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct OsEvent {
    // Above `event`, for it has to go before the descriptor is closed.
    waits: sys::EventWaits,
    event: sys::Event,
}

impl OsEvent {
    /// An event that is set or not.
    ///
    /// # Errors
    ///
    /// If descriptors have run out.
    pub fn new(set: bool) -> io::Result<Self> {
        Ok(Self { waits: sys::EventWaits::default(), event: sys::Event::new(set)? })
    }

    /// Sets the event: a waiter gets through, now or when one comes.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn set(&self) -> io::Result<()> {
        self.event.set()
    }

    /// Takes back a signal that nobody has taken yet.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn reset(&self) -> io::Result<()> {
        match self.event.take() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }

    /// Whether the event is set. Nothing is taken, so somebody else may be quicker than the caller's
    /// next step.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn is_set(&self) -> io::Result<bool> {
        self.event.is_set()
    }

    /// Waits for a signal and takes it.
    ///
    /// Dropping the future loses no signal: one that was not returned is still there. So an event that is
    /// either set or cancelled is this one and a `CancellationToken`, by
    /// `token.run_until_cancelled(event.wait())`.
    ///
    /// # Errors
    ///
    /// What the OS says, or if the runtime shuts down.
    pub async fn wait(&self) -> io::Result<()> {
        // An event that others keep setting must not keep the task from letting others run.
        windlass_runtime::task::consume_budget().await;
        match self.event.take() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return result,
        }
        self.waits.wait(&self.event).await
    }

    /// Blocks the thread until it has got a signal. For threads that run no tasks.
    ///
    /// # Errors
    ///
    /// What the OS says.
    pub fn wait_blocking(&self) -> io::Result<()> {
        self.take_by(None).map(drop)
    }

    /// As [`wait_blocking`](Self::wait_blocking), for as long as `timeout`; false if no signal came.
    ///
    /// # Errors
    ///
    /// What the OS says.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::sync::os::Event;
    ///
    /// let event = Event::new(true)?;
    /// assert!(event.wait_timeout(Duration::from_secs(1))?);
    /// assert!(!event.wait_timeout(Duration::from_millis(1))?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn wait_timeout(&self, timeout: Duration) -> io::Result<bool> {
        // A time that the clock can't say never comes.
        self.take_by(Instant::now().checked_add(timeout))
    }

    fn take_by(&self, deadline: Option<Instant>) -> io::Result<bool> {
        let mut now = Instant::now();
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(now));
            match self.event.take_within(left.map(in_millis)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => now = Instant::now(),
                result => return result.map(|()| true),
            }
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Ok(false);
            }
        }
    }

    pub(crate) fn event(&self) -> &sys::Event {
        &self.event
    }
}

/// Rounded up, for a wait must not end early; at most what every OS can say.
fn in_millis(time: Duration) -> u32 {
    let millis = time.as_nanos().div_ceil(1_000_000);
    millis.min(i32::MAX as u128) as u32
}

impl fmt::Debug for OsEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OsEvent").field("set", &self.is_set().ok()).finish_non_exhaustive()
    }
}
