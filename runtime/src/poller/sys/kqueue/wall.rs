//! A timer on the wall clock: a queue of its own, with nothing but timers in it. It becomes readable,
//! like any queue, when one of them goes off, so the poller can watch it.
//!
//! One timer is for the time itself, by the wall clock, where the system has such timers. Whether it goes off sooner
//! when that clock is put forward differs between systems and versions; none reports that the clock was set. So a
//! second timer goes off every minute while the wait is longer than that, and has the caller look at the clock: a step
//! is noticed a minute late at worst. A clock that was put back needs nothing more: the caller looks, and sets the
//! timer again.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::native::{self, EV_ADD, EV_DELETE, EV_ONESHOT};
use super::queue::{self, Queue};
use crate::poller::sys::policy::WALL_LOOK;

/// Names of the timers in the queue.
const LOOK: u64 = 0;
const TIME: u64 = 1;

/// A queue that becomes readable at a time of the wall clock, or when it is time to look at that clock.
pub struct WallClock {
    queue: Queue,
}

impl WallClock {
    /// Creates a timer that is not set.
    ///
    /// # Errors
    ///
    /// Returns an error if descriptors have run out.
    pub fn new() -> io::Result<Self> {
        Ok(Self { queue: Queue::new()? })
    }

    /// Has `take` succeed at that time, or before.
    ///
    /// # Errors
    ///
    /// Returns the error of the OS.
    pub fn set(&self, time: SystemTime) -> io::Result<()> {
        // Not all systems set an existing timer anew.
        for timer in [LOOK, TIME] {
            let _ = self.queue.change(&[queue::timer(EV_DELETE, Duration::ZERO, timer)]);
        }
        let left = time.duration_since(SystemTime::now()).unwrap_or_default();
        let flags = EV_ADD | EV_ONESHOT;
        self.queue.change(&[queue::timer(flags, left.min(WALL_LOOK), LOOK)])?;
        if let (Some(absolute), true) = (native::TIMER_ABSOLUTE, left <= WALL_LOOK) {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            self.queue.change(&[queue::timer_at(flags, absolute, since, TIME)])?;
        }
        Ok(())
    }

    /// Takes the notification that it is time to look, or returns `WouldBlock`. The timer has to be set again for the
    /// next one.
    ///
    /// # Errors
    ///
    /// Returns the error of the OS.
    pub fn take(&self) -> io::Result<()> {
        let mut room = [const { MaybeUninit::uninit() }; 2];
        match self.queue.wait(&mut room, Some(Duration::ZERO))? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(()),
        }
    }
}

impl AsFd for WallClock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_pollable()
    }
}

impl std::fmt::Debug for WallClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("WallClock").field(&self.as_fd()).finish()
    }
}
