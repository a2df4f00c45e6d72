//! How long a worker that ran dry keeps its eyes open before it parks.
//!
//! Waking a parked thread costs some tens of microseconds, so a worker whose work comes in quick
//! succession does better to wait awake. Whether it does is learnt from what happened: a spin that
//! met work and a sleep that was over within the spin's time speak for spinning, a spin in vain
//! against. A worker that is preempted while it spins takes a core from somebody who has something
//! to do, and stops for a good while.
//!
//! Where spinning is not allowed, a worker that goes to sleep on the OS finds there what has come. To look first saves
//! the way to sleep and back if something has, and costs a system call if not. Mostly one or the other happens many times in a row:
//! on one core, the peer is either let in at once when it is sent something, and has answered before we look, or not until we sleep.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::primitives::hint;

/// The longest spin.
const LONGEST: Duration = Duration::from_micros(50);
/// A sleep up to this long would have been better spent awake.
const SHORT_SLEEP: Duration = Duration::from_micros(80);
/// A step of the spin that takes longer was interrupted: the core is wanted elsewhere.
const PREEMPTED: Duration = Duration::from_micros(200);
/// After a look at the OS in vain, a worker that does not spin falls asleep so many times without one.
const WITHOUT_LOOK: u32 = 7;
/// Bounds of the score. Spinning is on while it is positive.
const BEST: i32 = 4;
const WORST: i32 = -8;

/// One worker's experience with spinning.
pub(crate) struct Spin {
    allowed: bool,
    score: Cell<i32>,
    /// How many times the worker still falls asleep without a look at the OS.
    without_look: Cell<u32>,
}

impl Spin {
    /// `allowed` is false where spinning can only do harm: on one core, or with more workers than
    /// cores.
    pub(crate) fn new(allowed: bool) -> Self {
        Self { allowed, score: Cell::new(0), without_look: Cell::new(0) }
    }

    /// True if the worker, which has run dry, should look at the OS before it goes to sleep there. Counts the times when it
    /// should not.
    pub(crate) fn looks_first(&self) -> bool {
        let left = self.without_look.get();
        self.without_look.set(left.saturating_sub(1));
        self.allowed || left == 0
    }

    /// Notes what such a look has brought.
    pub(crate) fn looked(&self, found: bool) {
        self.without_look.set(if found { 0 } else { WITHOUT_LOOK });
    }

    /// Waits awake for `ready`; `None` if it did not come, or if spinning is off.
    pub(crate) fn wait_for(&self, ready: impl Fn() -> bool) -> Option<()> {
        if !self.allowed || self.score.get() <= 0 {
            return None;
        }
        let start = Instant::now();
        let mut last = start;
        loop {
            for _ in 0..16 {
                for _ in 0..8 {
                    hint::spin_loop();
                }
                if ready() {
                    self.learn(1);
                    return Some(());
                }
            }
            let now = Instant::now();
            if now - last > PREEMPTED {
                self.score.set(WORST);
                return None;
            }
            if now - start > LONGEST {
                self.learn(-1);
                return None;
            }
            last = now;
        }
    }

    /// Runs `sleep` and learns from how long it took, unless it ended for a reason that was known
    /// before (`false`).
    pub(crate) fn measure_sleep(&self, sleep: impl FnOnce() -> bool) {
        if !self.allowed {
            sleep();
            return;
        }
        let start = Instant::now();
        if sleep() && start.elapsed() < SHORT_SLEEP {
            self.learn(1);
        }
    }

    fn learn(&self, experience: i32) {
        self.score.set((self.score.get() + experience).clamp(WORST, BEST));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn spinning_in_vain_is_given_up_and_short_sleeps_bring_it_back() {
        let spin = Spin::new(true);
        spin.score.set(1);
        assert_eq!(spin.wait_for(|| false), None);
        assert!(spin.score.get() <= 0);
        assert_eq!(spin.wait_for(|| true), None, "off, whatever there is");
        spin.score.set(0);
        spin.measure_sleep(|| true);
        assert_eq!(spin.wait_for(|| true), Some(()));
    }

    #[test]
    fn after_a_look_in_vain_a_worker_that_does_not_spin_falls_asleep_without() {
        let spin = Spin::new(false);
        assert!(spin.looks_first());
        spin.looked(true);
        assert!(spin.looks_first(), "there was something the last time");
        spin.looked(false);
        let skipped = (0..100).take_while(|_| !spin.looks_first()).count();
        assert_eq!(skipped, WITHOUT_LOOK as usize, "then it tries again");
        assert!(spin.looks_first(), "and was not told what came of it");
        let spin = Spin::new(true);
        spin.looked(false);
        assert!(spin.looks_first(), "before it spins it looks");
    }

    #[test]
    fn where_it_is_not_allowed_nothing_turns_it_on() {
        let spin = Spin::new(false);
        spin.measure_sleep(|| true);
        assert_eq!(spin.wait_for(|| true), None);
    }
}
