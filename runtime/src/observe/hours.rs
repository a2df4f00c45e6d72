//! Counts the time that a worker is busy, idle or with the OS.

use std::time::Duration;

use crate::primitives::plain::{AtomicU8, AtomicU64, Ordering};

/// The state whose time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It runs tasks or computes.
    Work = 0,
    /// It sleeps or looks for work.
    Idling = 1,
    /// It takes events and fires timers, without waiting.
    Os = 2,
}

/// Nobody works here.
const NOTHING: u8 = 3;

/// The time of one worker, in nanoseconds. Written only by its thread. A reader may see a change half made, and be off
/// by the time between two changes.
pub(crate) struct Hours {
    doing: AtomicU8,
    since: AtomicU64,
    totals: [AtomicU64; 3],
}

impl Default for Hours {
    fn default() -> Self {
        Self { doing: AtomicU8::new(NOTHING), since: AtomicU64::new(0), totals: Default::default() }
    }
}

impl Hours {
    /// Notes that the worker does something else from now on.
    pub(super) fn switch(&self, to: Doing, now: u64) {
        self.close(now);
        self.doing.store(to as u8, Ordering::Relaxed);
    }

    /// Notes that the worker leaves.
    pub(super) fn stop(&self, now: u64) {
        self.close(now);
        self.doing.store(NOTHING, Ordering::Relaxed);
    }

    fn close(&self, now: u64) {
        let since = self.since.load(Ordering::Relaxed);
        if let Some(total) = self.totals.get(usize::from(self.doing.load(Ordering::Relaxed))) {
            let more = now.saturating_sub(since);
            total.store(total.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
        }
        self.since.store(now, Ordering::Relaxed);
    }

    /// Returns the time spent in each state, including the current one.
    pub(super) fn read(&self, now: u64) -> [Duration; 3] {
        let doing = usize::from(self.doing.load(Ordering::Relaxed));
        let lasts = now.saturating_sub(self.since.load(Ordering::Relaxed));
        std::array::from_fn(|index| {
            let total = self.totals[index].load(Ordering::Relaxed);
            Duration::from_nanos(total + if index == doing { lasts } else { 0 })
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_does_at_the_moment_counts_too_and_one_that_left_does_nothing() {
        let hours = Hours::default();
        assert_eq!(hours.read(50), [Duration::ZERO; 3]);
        hours.switch(Doing::Work, 100);
        hours.switch(Doing::Os, 130);
        hours.switch(Doing::Work, 135);
        hours.switch(Doing::Idling, 140);
        let read = |now| hours.read(now).map(|time| time.as_nanos());
        assert_eq!(read(200), [35, 60, 5]);
        assert_eq!(read(120), [35, 0, 5], "a reader whose clock is behind");
        hours.stop(200);
        assert_eq!(read(300), [35, 60, 5]);
    }
}
