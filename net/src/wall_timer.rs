//! Waiting for a time of day, which may be set while we wait.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use crate::sys;

/// Waits until the wall clock says `time`; see [`WallTimer`].
///
/// # Errors
///
/// At the await, as for [`WallTimer`].
pub fn sleep_until_wall(time: SystemTime) -> WallTimer {
    WallTimer::at(time)
}

/// Waits for a time of the wall clock, and follows that clock when it is set: if it is put forward the wait
/// is over sooner, if it is put back it takes longer. For spans of time use `sleep`, which does not care
/// what the clock on the wall says.
///
/// It is a timer of the OS (on Linux a `timerfd` that is told of steps of the clock; on macOS and the BSDs a
/// kqueue, which is not, and looks at the clock every minute instead; on Windows a timer of the thread pool set to
/// an absolute time, which the OS moves with the clock), made by the first poll
/// that has to wait, so a program can have as many as it can have descriptors. It belongs to the runtime
/// that was current then, until [`reset`](Self::reset). A runtime in virtual time
/// leaves the wall clock alone.
///
/// # Errors
///
/// The await fails if descriptors have run out, if the OS has no such timer to give, or if the runtime shuts down.
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
    /// Made, and set, when there is something to wait for.
    wait: Option<sys::WallWait>,
}

impl WallTimer {
    /// A timer for that time. One that is past is ready at the first poll.
    pub const fn at(time: SystemTime) -> Self {
        Self { time, wait: None }
    }

    /// What it waits for.
    pub fn time(&self) -> SystemTime {
        self.time
    }

    /// Has it wait for another time.
    pub fn reset(&mut self, time: SystemTime) {
        *self = Self::at(time);
    }
}

impl Future for WallTimer {
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { time, wait } = self.get_mut();
        loop {
            // The OS only tells when it is time to look: what the clock says counts.
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
