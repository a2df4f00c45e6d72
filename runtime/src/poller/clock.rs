//! A runtime's clock: the OS's monotonic clock, or *virtual time*, which the runtime moves itself.
//!
//! The time is a plain atomic because it is a value and not part of a protocol: it only grows, and nothing else is
//! published with it. Timers that are due are found under the locks of their wheels.

use std::time::{Duration, Instant};

use windlass_timer::nanos;

use crate::primitives::plain::{AtomicU64, Ordering as Plain};
use crate::sched::policy::TIMELESS;

/// A clock that counts nanoseconds since the process's epoch.
pub(crate) struct Clock {
    /// The current time, in virtual time only.
    virtual_now: Option<AtomicU64>,
}

impl Clock {
    /// Returns the OS's monotonic clock; in models, where no time passes, a clock that stands at 0.
    pub(crate) fn of_the_os() -> Self {
        let virtual_now = if TIMELESS { Some(AtomicU64::new(0)) } else { None };
        Self { virtual_now }
    }

    /// Returns a clock in virtual time, which starts now and stands still until it is moved.
    pub(crate) fn virtual_time() -> Self {
        Self { virtual_now: Some(AtomicU64::new(nanos(Instant::now()))) }
    }

    /// Returns true in virtual time.
    pub(crate) fn is_virtual(&self) -> bool {
        self.virtual_now.is_some() && !TIMELESS
    }

    /// Returns the current time.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        match &self.virtual_now {
            None => nanos(Instant::now()),
            Some(now) => now.load(Plain::Relaxed),
        }
    }

    /// Returns the OS's time, even in virtual time.
    pub(crate) fn lasting(&self) -> u64 {
        if TIMELESS { self.now() } else { nanos(Instant::now()) }
    }

    /// Moves virtual time forward to `time`; it never moves back.
    pub(crate) fn move_to(&self, time: u64) {
        if let Some(now) = &self.virtual_now {
            now.fetch_max(time, Plain::Relaxed);
        }
    }

    /// Returns the time left until `time`, or `None` if that is never.
    pub(crate) fn until(&self, time: u64) -> Option<Duration> {
        (time != windlass_timer::NEVER)
            .then(|| Duration::from_nanos(time.saturating_sub(self.now())))
    }
}
