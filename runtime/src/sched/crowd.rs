//! Whether the CPU that a worker runs on is wanted by others.
//!
//! A second worker gets more done where a CPU is free for it. Where none is, it takes its time from the first, or from
//! the client that both wait for. Then they push each other off the CPU, for some milliseconds each time, with
//! tasks in their hands. A worker that is pushed off is told by the OS, if it asks: where that happens, it keeps for
//! itself what it gets done within a millisecond.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::poller::times_preempted;

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

    /// True if the current thread, always the same, was pushed off its CPU a short while ago.
    pub(crate) fn is_dense(&self, now: Instant) -> bool {
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
