//! Decides which wake-ups are stamped; the more frequent they are, the smaller the share.
//!
//! A stamp costs two readings of the clock, one now and one when the poll begins. So the shares depend on time: where
//! stamps follow each other closely, fewer are made. A stamp carries its share, because another worker may poll the
//! task.

use std::cell::Cell;

use windlass_timer::in_nanos;

use super::policy::{STAMP_EVERY, STAMP_TIME};
use crate::task::WokenBy;

/// The largest level: each stands for four times as many wake-ups as the one below it.
const TOP: u8 = 3;

/// The level of stamps by threads that are not workers.
pub(super) const OUTSIDE_LEVEL: u8 = 1;

/// Returns how many wake-ups a stamp of this level stands for.
pub(super) fn stands_for(by: WokenBy, level: u8) -> u32 {
    STAMP_EVERY[by as usize] << (2 * level.min(TOP))
}

/// The stamps of one worker on the wake-ups of one origin.
pub(super) struct Sampling {
    /// Wake-ups left until the next stamp.
    left: Cell<u32>,
    level: Cell<u8>,
    /// When the last stamp was made, in nanoseconds.
    last: Cell<u64>,
}

impl Sampling {
    pub(super) const fn new() -> Self {
        Self { left: Cell::new(1), level: Cell::new(0), last: Cell::new(0) }
    }

    /// Counts a wake-up. Returns true if it is to be stamped.
    #[inline]
    pub(super) fn count(&self) -> bool {
        let left = self.left.get() - 1;
        self.left.set(left);
        left == 0
    }

    /// Returns the level of a stamp that is made at this time.
    pub(super) fn stamp(&self, by: WokenBy, now: u64) -> u8 {
        let level = self.level.get();
        let since = now.saturating_sub(self.last.replace(now));
        let next = if since < in_nanos(STAMP_TIME) {
            TOP.min(level + 1)
        } else if since > 8 * in_nanos(STAMP_TIME) {
            level.saturating_sub(1)
        } else {
            level
        };
        self.level.set(next);
        self.left.set(stands_for(by, next));
        level
    }

    /// Notes that a wake-up is not stamped, because nothing is observed.
    pub(super) fn skip(&self, by: WokenBy) {
        self.left.set(stands_for(by, TOP));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Has a worker wake tasks, one every `apart` nanoseconds. Returns how many were stamped, and how many they stand
    /// for.
    fn wake(sampling: &Sampling, by: WokenBy, from: u64, times: u64, apart: u64) -> (u64, u64) {
        let (mut stamps, mut stand_for) = (0, 0);
        for time in 1..=times {
            if sampling.count() {
                let level = sampling.stamp(by, from + time * apart);
                stamps += 1;
                stand_for += u64::from(stands_for(by, level));
            }
        }
        (stamps, stand_for)
    }

    #[test]
    fn stamps_stand_for_all_wake_ups_however_many_there_are() {
        for by in WokenBy::ALL {
            for apart in [10, 1_000, 100_000, 10_000_000] {
                let (stamps, stand_for) = wake(&Sampling::new(), by, 1 << 40, 100_000, apart);
                assert!(
                    stand_for.abs_diff(100_000) <= 1_100,
                    "{stand_for} by {by:?}, {apart} ns apart"
                );
                assert!(stamps >= 90, "{stamps} by {by:?}, {apart} ns apart");
            }
        }
    }

    #[test]
    fn frequent_wake_ups_are_stamped_rarely_and_rare_ones_often() {
        let sampling = Sampling::new();
        let (task, start) = (WokenBy::Task, 1 << 40);
        let (often, _) = wake(&sampling, task, start, 1_000_000, 30);
        assert!(often < 1_100, "{often} stamps in 30 ms");
        // Things calm down.
        let (rare, _) = wake(&sampling, task, start + 30_000_000, 10_000, 1_000_000);
        assert!(rare > 10_000 / 16 - 100, "{rare} stamps in ten seconds");
    }
}
