//! Whether the CPU that a worker runs on is wanted by others.
//!
//! A second worker gets more done where a CPU is free for it. Where none is, it takes its time from the first, or from
//! the client that both wait for. Then they push each other off the CPU, for some milliseconds each time, with
//! tasks in their hands. A worker that is pushed off is told by the OS, if it asks: where that happens, it keeps for
//! itself what it gets done within a millisecond.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The time between two questions to the OS, which cost a system call each.
const ASK_EVERY: Duration = Duration::from_millis(1);
/// How long it counts that the worker was pushed off.
const LASTS: Duration = Duration::from_millis(20);

/// One worker's experience with its CPU.
pub(crate) struct Crowd {
    asked: Cell<Instant>,
    times: Cell<u64>,
    preempted: Cell<Option<Instant>>,
}

impl Crowd {
    /// For a thread that has yet to begin.
    pub(crate) fn new(now: Instant) -> Self {
        Self { asked: Cell::new(now), times: Cell::new(0), preempted: Cell::new(None) }
    }

    /// True if the current thread, always the same, was pushed off its CPU a short while ago. `times_preempted`
    /// asks the OS how often that has happened.
    pub(crate) fn is_dense(&self, now: Instant, times_preempted: impl FnOnce() -> u64) -> bool {
        let since = now.saturating_duration_since(self.asked.get());
        if since >= ASK_EVERY {
            self.asked.set(now);
            let times = times_preempted();
            // If we have not asked for long, it may have happened any time ago.
            if self.times.replace(times) != times && since < LASTS {
                self.preempted.set(Some(now));
            }
        }
        let recent = |preempted: Instant| now.saturating_duration_since(preempted) < LASTS;
        self.preempted.get().is_some_and(recent)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A worker whose clock and whose OS say what a test has them say.
    struct Told {
        start: Instant,
        crowd: Crowd,
        questions: Cell<u32>,
    }

    impl Told {
        fn new() -> Self {
            let start = Instant::now();
            Self { start, crowd: Crowd::new(start), questions: Cell::new(0) }
        }

        fn is_dense(&self, micros: u64, preempted: u64) -> bool {
            self.crowd.is_dense(self.start + Duration::from_micros(micros), || {
                self.questions.set(self.questions.get() + 1);
                preempted
            })
        }
    }

    #[test]
    fn the_os_is_asked_once_a_millisecond_however_often_it_matters() {
        let worker = Told::new();
        for micros in (0..10_000).step_by(10) {
            worker.is_dense(micros, 0);
        }
        assert_eq!(worker.questions.get(), 9);
    }

    #[test]
    fn who_was_pushed_off_remembers_it_for_a_while() {
        let worker = Told::new();
        assert!(!worker.is_dense(1_000, 0));
        assert!(worker.is_dense(2_000, 1));
        // Whether the OS is asked or not.
        assert!(worker.is_dense(2_500, 1));
        assert!(worker.is_dense(21_999, 1));
        assert!(!worker.is_dense(22_000, 1), "20 ms have passed");
        assert!(worker.is_dense(23_000, 2), "once more");
    }

    #[test]
    fn each_time_counts_from_when_it_was_noticed() {
        let worker = Told::new();
        assert!(worker.is_dense(1_000, 1));
        assert!(worker.is_dense(11_000, 3));
        assert!(worker.is_dense(30_999, 3));
        assert!(!worker.is_dense(31_000, 3));
    }

    #[test]
    fn what_happened_while_nobody_asked_may_be_long_ago() {
        let worker = Told::new();
        assert!(!worker.is_dense(1_000, 0));
        assert!(!worker.is_dense(21_000, 7), "any time within 20 ms");
        assert!(!worker.is_dense(22_000, 7), "it was counted then");
        assert!(worker.is_dense(23_000, 8));
    }

    #[test]
    fn a_clock_that_stands_still_or_goes_back_is_no_reason_to_ask() {
        let worker = Told::new();
        assert!(worker.is_dense(5_000, 1));
        assert!(worker.is_dense(5_000, 2));
        assert!(worker.is_dense(1_000, 3));
        assert_eq!(worker.questions.get(), 1);
    }
}
