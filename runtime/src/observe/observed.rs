//! The counts of a thread that others read: the shared half of its [`Observer`](super::observer::Observer).

use std::sync::OnceLock;

use super::histogram::Recorder;
use super::hours::Hours;
use super::ring::Ring;
use super::site_counts::{SiteCount, SiteCounts};
use crate::primitives::Mutex;
use crate::primitives::plain::{AtomicBool, AtomicU64, Ordering};
use crate::sched::Counter;
use crate::task::SiteId;

/// The observations of one place for a worker. They are written by the thread in the place, with plain stores; the
/// monitor writes `stuck`. All threads that are not workers share one more, which they write with read-modify-writes;
/// those with tasks of their own have others for the polls of these, see `LocalObserver`.
///
/// Aligned, so that no other allocation shares a cache line with it, or the pair of lines that are fetched together.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Observed {
    pub(super) poll_time: Recorder,
    /// Indexed by `WokenBy`.
    pub(super) wake_latency: [Recorder; 4],
    pub(super) timer_lateness: Recorder,
    pub(super) blocking_wait: Recorder,
    pub(super) fork_join_time: Recorder,
    pub(super) ready_tasks: Recorder,
    pub(super) hours: Hours,
    pub(super) sites: SiteCounts,
    pub(super) ring: OnceLock<Ring>,
    /// The ring that is written while each poll and each wake-up is recorded.
    pub(super) full_ring: OnceLock<Ring>,
    /// Held while writing to the rings that all threads other than workers share.
    pub(super) writes: Mutex<()>,
    /// The time at which the thread last read the clock, in nanoseconds.
    clock: AtomicU64,
    /// When the computation began in which the thread polls tasks in place, or has done so, in nanoseconds; 0 if there
    /// is none.
    computes_since: AtomicU64,
    /// How long a task waited that was polled too late, in nanoseconds; 0 if there was none since the last look.
    late: AtomicU64,
    /// The monitor has seen the worker stuck in a poll, and the worker has not answered.
    stuck: AtomicBool,
}

impl Observed {
    /// Counts one more at a site that is not one of the near ones.
    #[cold]
    #[inline(never)]
    pub(super) fn count_far(&self, site: SiteId, what: fn(&SiteCount) -> &Counter) {
        what(self.sites.of(site)).bump();
    }

    /// Publishes the time that the thread has just read from the clock.
    pub(super) fn set_clock(&self, now: u64) {
        self.clock.store(now, Ordering::Relaxed);
    }

    /// Returns the time at which the thread last read the clock. Its current poll began shortly after that.
    pub(super) fn clock(&self) -> u64 {
        self.clock.load(Ordering::Relaxed)
    }

    /// Publishes when the computation began that the thread interrupts, or 0 when it has ended.
    pub(super) fn set_computes_since(&self, began: u64) {
        self.computes_since.store(began, Ordering::Relaxed);
    }

    /// Returns the earliest time at which the poll in which the thread computes may have begun. A task that is polled
    /// in place has read the clock, and began later.
    pub(super) fn clock_around(&self) -> u64 {
        match self.computes_since.load(Ordering::Relaxed) {
            0 => self.clock(),
            began => began,
        }
    }

    /// Notes that a task was polled too late: this many nanoseconds after it was woken.
    pub(super) fn set_late(&self, waited: u64) {
        self.late.store(waited, Ordering::Relaxed);
    }

    /// Returns true if a task was polled too late since the last call of `take_late`.
    pub(super) fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed) > 0
    }

    /// Returns how late that was, and forgets it.
    pub(super) fn take_late(&self) -> Option<u64> {
        self.is_late().then(|| self.late.swap(0, Ordering::Relaxed))
    }

    /// Notes that the monitor has seen the worker stuck in a poll.
    pub(super) fn set_stuck(&self) {
        self.stuck.store(true, Ordering::Relaxed);
    }

    /// Returns true if the monitor has noted that since the last call.
    pub(super) fn take_stuck(&self) -> bool {
        let stuck = self.stuck.load(Ordering::Relaxed);
        if stuck {
            self.stuck.store(false, Ordering::Relaxed);
        }
        stuck
    }
}

/// A place for the observations of a worker, which are allocated when a thread moves in for the first time.
#[derive(Default)]
pub(crate) struct ObservedPlace(OnceLock<std::sync::Arc<Observed>>);

impl ObservedPlace {
    /// Returns the observations, and allocates them if there are none.
    pub(crate) fn open(&self) -> &std::sync::Arc<Observed> {
        self.0.get_or_init(Default::default)
    }

    /// Notes that the monitor has seen the worker stuck in a poll. Returns true if that poll will be timed.
    pub(crate) fn note_stuck(&self) -> bool {
        self.get().map(Observed::set_stuck).is_some()
    }

    /// Returns the observations, if a thread has ever been here.
    pub(crate) fn get(&self) -> Option<&Observed> {
        self.0.get().map(|observed| &**observed)
    }
}
