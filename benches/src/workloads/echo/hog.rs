//! A task that computes for 2 ms between yields, as real servers have them.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::support::sys;

/// CPU time between yields.
const BURST: Duration = Duration::from_millis(2);

pub(in crate::workloads) struct Hog {
    bursts: AtomicU32,
    stopped: AtomicBool,
}

impl Hog {
    pub(super) fn new() -> Hog {
        Hog { bursts: AtomicU32::new(0), stopped: AtomicBool::new(false) }
    }

    /// Burns [`BURST`] of CPU time: the time for which its thread did not run does not count.
    /// False when it shall not go on.
    pub(super) fn burst(&self) -> bool {
        let end = sys::thread_cpu() + BURST;
        while sys::thread_cpu() < end {
            for step in 0..2_000 {
                black_box(step);
            }
        }
        self.bursts.fetch_add(1, Ordering::Relaxed);
        !self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// What all bursts so far took together.
    pub(super) fn burnt(&self) -> Duration {
        BURST * self.bursts.load(Ordering::Relaxed)
    }
}
