//! A runtime's time: the OS's, or in tests one that moves only when it is told to.

use std::time::{Duration, Instant};

use windlass_timer::nanos;

use crate::primitives::plain::{AtomicU64, Ordering as Plain};

/// Counts in nanoseconds since the process's epoch.
pub(crate) struct Clock {
    /// The time, if it is not the OS's.
    virtual_now: Option<AtomicU64>,
}

impl Clock {
    /// The OS's monotonic clock. Models have no time of their own.
    pub(crate) fn of_the_os() -> Self {
        let virtual_now = if cfg!(loom) { Some(AtomicU64::new(0)) } else { None };
        Self { virtual_now }
    }

    /// A clock that stands still until it is moved.
    pub(crate) fn still() -> Self {
        Self { virtual_now: Some(AtomicU64::new(nanos(Instant::now()))) }
    }

    /// True for a clock that stands still until it is moved.
    pub(crate) fn is_virtual(&self) -> bool {
        self.virtual_now.is_some() && cfg!(not(loom))
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        match &self.virtual_now {
            None => nanos(Instant::now()),
            Some(now) => now.load(Plain::Relaxed),
        }
    }

    /// The OS's time, also if the clock is a virtual one. Models have none.
    pub(crate) fn lasting(&self) -> u64 {
        if cfg!(loom) { self.now() } else { nanos(Instant::now()) }
    }

    /// Moves a virtual clock forward to a time; it is never moved back.
    pub(crate) fn move_to(&self, time: u64) {
        if let Some(now) = &self.virtual_now {
            now.fetch_max(time, Plain::Relaxed);
        }
    }

    /// How long it is until `time` comes; `None` if that is never.
    pub(crate) fn until(&self, time: u64) -> Option<Duration> {
        (time != windlass_timer::NEVER)
            .then(|| Duration::from_nanos(time.saturating_sub(self.now())))
    }
}
