//! What a thread counts for those who look: the shared half of its [`Observer`](super::observer::Observer).

use std::sync::OnceLock;

use super::histogram::Recorder;
use super::hours::Hours;
use super::ring::Ring;
use super::site_counts::SiteCounts;
use crate::primitives::Mutex;
use crate::primitives::plain::{AtomicBool, AtomicU64, Ordering};

/// The observations of one place for a worker. The thread in the place writes, with plain stores, but for what the
/// monitor says. There is one more for all threads that are no workers, which is written with read-modify-writes.
#[derive(Default)]
pub(crate) struct Watch {
    pub(super) poll_time: Recorder,
    /// By `WokenBy`.
    pub(super) wake_latency: [Recorder; 4],
    pub(super) timer_lateness: Recorder,
    pub(super) blocking_wait: Recorder,
    pub(super) fork_join_time: Recorder,
    pub(super) ready_tasks: Recorder,
    pub(super) hours: Hours,
    pub(super) sites: SiteCounts,
    pub(super) ring: OnceLock<Ring>,
    /// What is recorded while each poll and each wake-up is.
    pub(super) full_ring: OnceLock<Ring>,
    /// Held by a thread that writes into a ring that several threads share: that of those that are no workers.
    pub(super) writes: Mutex<()>,
    /// When the thread last read the clock, in nanoseconds.
    clock: AtomicU64,
    /// When the computation began in which the thread polls tasks in place or has done so, in nanoseconds; 0 for none.
    computes_since: AtomicU64,
    /// How long a task had waited that was polled too late, in nanoseconds; 0 if none was since somebody looked.
    late: AtomicU64,
    /// The monitor has seen the worker stuck in a poll, and the worker has not answered.
    stuck: AtomicBool,
}

impl Watch {
    /// The thread has read the clock.
    pub(super) fn set_clock(&self, now: u64) {
        self.clock.store(now, Ordering::Relaxed);
    }

    /// Returns when the thread last read the clock: a poll that it is in has begun shortly after that.
    pub(super) fn clock(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// The thread interrupts a computation that began at this time, or has ended one if it is 0.
    pub(super) fn set_computes_since(&self, began: u64) {
        self.computes_since.store(began, Ordering::Relaxed);
    }

    /// Returns when the poll began that the thread computes in, at the earliest. What is polled in place reads the clock, and
    /// began later.
    pub(super) fn clock_around(&self) -> u64 {
        match self.computes_since.load(Ordering::Relaxed) {
            0 => self.clock(),
            began => began,
        }
    }

    /// A task was polled this many nanoseconds after it was woken, which is too late.
    pub(super) fn set_late(&self, waited: u64) {
        self.late.store(waited, Ordering::Relaxed);
    }

    /// Returns true if a task was polled too late since the last call of `take_late`.
    pub(super) fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed) > 0
    }

    /// Returns how late that was.
    pub(super) fn take_late(&self) -> Option<u64> {
        self.is_late().then(|| self.late.swap(0, Ordering::Relaxed))
    }

    /// The monitor has seen the worker stuck in a poll.
    pub(super) fn set_stuck(&self) {
        self.stuck.store(true, Ordering::Relaxed);
    }

    /// Returns true if the monitor has said so since the last call.
    pub(super) fn take_stuck(&self) -> bool {
        let stuck = self.stuck.load(Ordering::Relaxed);
        if stuck {
            self.stuck.store(false, Ordering::Relaxed);
        }
        stuck
    }
}

/// A place for a watch, which is made when a thread moves in for the first time.
#[derive(Default)]
pub(crate) struct WatchPlace(OnceLock<std::sync::Arc<Watch>>);

impl WatchPlace {
    /// Returns the watch.
    pub(crate) fn open(&self) -> &std::sync::Arc<Watch> {
        self.0.get_or_init(Default::default)
    }

    /// The worker here is stuck in a poll, says the monitor. Returns true if the poll will be timed.
    pub(crate) fn is_stuck(&self) -> bool {
        self.get().map(Watch::set_stuck).is_some()
    }

    /// Returns the watch, if a thread has ever been there.
    pub(crate) fn get(&self) -> Option<&Watch> {
        self.0.get().map(|watch| &**watch)
    }
}
