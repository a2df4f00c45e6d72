//! Decides when a busy worker looks at the OS for events.
//!
//! The tasks that an event wakes queue up behind those that the worker has. So until it has polled these,
//! events may as well gather with the OS: taking ten at a time costs less than taking them one by one,
//! and interrupts the clients less often. That is a round. A round also ends after a fixed time, because
//! an event may be for a task that another worker could run.

use std::cell::Cell;
use std::time::Instant;

use super::policy::ROUND;

/// One worker's round.
pub(crate) struct Round {
    began: Cell<Instant>,
    /// The number of polls after which the worker has polled what was queued.
    through_at: Cell<u64>,
}

impl Round {
    pub(crate) fn new(now: Instant) -> Self {
        Self { began: Cell::new(now), through_at: Cell::new(0) }
    }

    /// Starts a round: the worker has just looked at the OS, with `queued` tasks in its queue and `polls` polls done.
    pub(crate) fn begin(&self, now: Instant, polls: u64, queued: usize) {
        self.began.set(now);
        self.through_at.set(polls.wrapping_add(queued as u64));
    }

    /// Returns true if the worker, with `polls` polls done, has to look at the OS again.
    pub(crate) fn is_over(&self, now: Instant, polls: u64) -> bool {
        let left = self.through_at.get().wrapping_sub(polls) as i64;
        left <= 0 || now.saturating_duration_since(self.began.get()) >= ROUND
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_round_lasts_until_what_was_queued_has_been_polled() {
        let now = Instant::now();
        let round = Round::new(now);
        assert!(round.is_over(now, 0), "before the first");
        round.begin(now, 7, 3);
        assert!(!round.is_over(now, 9));
        assert!(round.is_over(now, 10));
        assert!(round.is_over(now, 12));
    }

    #[test]
    fn nor_does_it_last_longer_than_its_time() {
        let now = Instant::now();
        let round = Round::new(now);
        round.begin(now, 0, 1_000_000);
        assert!(!round.is_over(now + ROUND / 2, 10));
        assert!(round.is_over(now + ROUND, 10));
    }
}
