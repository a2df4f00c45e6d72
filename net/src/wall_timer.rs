//! Waiting for a time of the wall clock, which may be set meanwhile.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use crate::sys;

/// Waits until the wall clock reaches `time`; see [`WallTimer`].
///
/// # Errors
///
/// Awaiting it returns the same errors as [`WallTimer`].
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use windlass::timer::sleep_until_wall;
///
/// # windlass::block_on(async {
/// sleep_until_wall(SystemTime::now() + Duration::from_millis(5)).await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub fn sleep_until_wall(time: SystemTime) -> WallTimer {
    WallTimer::at(time)
}

/// A future that waits for a time of the wall clock, and follows that clock when it is set.
///
/// If the clock is put forward, the wait ends sooner; if it is put back, the wait takes longer. For durations use
/// `sleep`, which does not depend on the wall clock. A runtime in virtual time does not change the wall clock.
///
/// The first poll that has to wait creates a timer of the OS, so the number of timers is limited by the number of
/// descriptors. The timer belongs to the runtime that is current then, until [`reset`](Self::reset).
///
/// # Platforms
///
/// On Linux it is a `timerfd`, which reports steps of the clock. On Windows it is a timer of the thread pool with an
/// absolute time, which the OS moves with the clock. On macOS and the BSDs it is a kqueue, which does not report steps;
/// there the clock is checked every minute.
///
/// # Errors
///
/// Awaiting it fails if descriptors have run out, if the OS has no timer left, or if the runtime shuts down.
///
/// # Cancelling
///
/// Dropping it, or the reference that is awaited, loses nothing.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use windlass::timer::WallTimer;
///
/// # windlass::block_on(async {
/// let time = SystemTime::now() + Duration::from_millis(5);
/// WallTimer::at(time).await?;
/// assert!(SystemTime::now() >= time);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct WallTimer {
    time: SystemTime,
    /// Created by the first poll that has to wait.
    wait: Option<sys::WallWait>,
}

impl WallTimer {
    /// Creates a timer. If the time is in the past, the first poll is ready.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use windlass::timer::WallTimer;
    ///
    /// # windlass::block_on(async {
    /// WallTimer::at(SystemTime::now() + Duration::from_millis(5)).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub const fn at(time: SystemTime) -> Self {
        Self { time, wait: None }
    }

    /// Returns the time that the timer waits for.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use windlass::timer::WallTimer;
    ///
    /// let time = SystemTime::now() + Duration::from_secs(60);
    /// assert_eq!(WallTimer::at(time).time(), time);
    /// ```
    pub fn time(&self) -> SystemTime {
        self.time
    }

    /// Makes the timer wait for another time.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use windlass::timer::WallTimer;
    ///
    /// # windlass::block_on(async {
    /// let mut timer = WallTimer::at(SystemTime::now() + Duration::from_secs(3600));
    /// timer.reset(SystemTime::now());
    /// timer.await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn reset(&mut self, time: SystemTime) {
        *self = Self::at(time);
    }
}

impl Future for WallTimer {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { time, wait } = self.get_mut();
        loop {
            // The OS only reports when to look; the clock decides.
            if SystemTime::now() >= *time {
                *wait = None;
                return Poll::Ready(Ok(()));
            }
            let wait = match wait {
                Some(wait) => wait,
                None => wait.insert(sys::WallWait::new(*time)?),
            };
            ready!(wait.poll(cx, *time))?;
        }
    }
}
