//! An auto-reset event that is an OS object, so that foreign code can signal it.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use crate::sys;

/// An auto-reset event that foreign code can signal: a C library, another process that has its descriptor, or anything
/// else that can call `write(2)`. Within one program, `AutoResetEvent` does the same at a lower cost.
///
/// - Waiting on a set event takes the signal and returns at once, without suspending.
/// - Waiting on an unset event suspends until it is set.
/// - [`set`](Self::set) on a set event changes nothing. Signals are not counted: however often the event was set before
///   a waiter runs, one waiter takes the signal. This also applies to waiters that are already suspended, so prefer one
///   waiter per event.
///
/// On Linux the event is an eventfd: the kernel guarantees that one waiter takes a signal, even between processes. On
/// macOS and the BSDs the event is a pipe: other processes can signal it, but only this process can take the signal.
///
/// A process that has the descriptor can set the event, or take its signals, at any time. Treat a signal as a hint to
/// look, unless all such processes are trusted.
///
/// The event belongs to no runtime until a task suspends on it, and then to the runtime of that task. Tasks of other
/// runtimes can wait as well. When that runtime shuts down, pending waits return an error; the next wait belongs to the
/// runtime of its own task.
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
    // Above `event`, because it must be dropped before the descriptor is closed.
    waits: sys::EventWaits,
    event: sys::Event,
}

impl OsEvent {
    /// Creates an event, which is set from the start if `set` is true.
    ///
    /// # Errors
    ///
    /// Returns an error if descriptors have run out.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::sync::os::Event;
    ///
    /// let event = Event::new(true)?;
    /// assert!(event.is_set()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn new(set: bool) -> io::Result<Self> {
        Ok(Self { waits: sys::EventWaits::default(), event: sys::Event::new(set)? })
    }

    /// Sets the event: it lets one waiter through, now or later.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::sync::os::Event;
    ///
    /// let event = Event::new(false)?;
    /// event.set()?;
    /// assert!(event.is_set()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn set(&self) -> io::Result<()> {
        self.event.set()
    }

    /// Unsets the event: discards a signal that no waiter has taken yet.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::sync::os::Event;
    ///
    /// let event = Event::new(true)?;
    /// event.reset()?;
    /// assert!(!event.is_set()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn reset(&self) -> io::Result<()> {
        match self.event.take() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }

    /// Returns true if the event is set.
    ///
    /// The signal is not taken, so another waiter may take it before the caller's next step.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::sync::os::Event;
    ///
    /// assert!(!Event::new(false)?.is_set()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn is_set(&self) -> io::Result<bool> {
        self.event.probe()
    }

    /// Waits for a signal and takes it.
    ///
    /// Dropping the future loses no signal: one that was not returned is kept. To wait for either the event or a
    /// cancellation, use `token.run_until_cancelled(event.wait())` with a `CancellationToken`.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::sync::os::Event;
    ///
    /// # windlass::block_on(async {
    /// let event = Event::new(true)?;
    /// event.wait().await?;
    /// assert!(!event.is_set()?);
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn wait(&self) -> io::Result<()> {
        // A task that waits for an event that is set again and again must let others run.
        windlass_runtime::task::consume_budget().await;
        match self.event.take() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            result => return result,
        }
        self.waits.wait(&self.event).await
    }

    /// Blocks the thread until it has taken a signal. For threads that run no tasks.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::sync::os::Event;
    ///
    /// let event = Event::new(true)?;
    /// event.wait_blocking()?;
    /// assert!(!event.is_set()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn wait_blocking(&self) -> io::Result<()> {
        self.take_by(None).map(drop)
    }

    /// Blocks the thread until it has taken a signal, for at most `timeout`. Returns false if there was none.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
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
        // A deadline that the clock can't represent never comes.
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

/// Converts to milliseconds, rounded up because a wait must not end early, and limited to the most that every OS
/// accepts.
fn in_millis(time: Duration) -> u32 {
    let millis = time.as_nanos().div_ceil(1_000_000);
    millis.min(i32::MAX as u128) as u32
}

impl fmt::Debug for OsEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OsEvent").field("set", &self.is_set().ok()).finish_non_exhaustive()
    }
}
