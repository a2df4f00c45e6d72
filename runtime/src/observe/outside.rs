//! The notes of outside threads about the tasks that they spawn and wake.

use std::time::Instant;

use windlass_timer::nanos;

use super::event::{Event, What};
use super::observed::Observed;
use super::ring::Ring;
use super::sampling::{OUTSIDE_LEVEL, stands_for};
use crate::poller::fires;
use crate::primitives::plain::Ordering;
use crate::sched::Pool;
use crate::task::{self, Id, Notes, PollTime, Runnable, WokenBy};

windlass_sync::thread_cell!(static UNTIL_STAMP: u32 = 1);

impl Pool {
    /// Returns true if what the runtime does is observed. No time passes in models.
    pub(crate) fn is_observed(&self) -> bool {
        self.config.observe && cfg!(not(loom))
    }

    fn observed(&self) -> Option<&Observed> {
        self.is_observed().then(|| &**self.observed_outside.open())
    }

    /// Notes that a task is being spawned for any worker to take.
    pub(crate) fn observe_spawn(&self, notes: &Notes) {
        if let Some(observed) = self.observed() {
            notes.spawned(nanos(Instant::now()));
            observed.sites.of(notes.site()).spawned.bump_shared();
        }
    }

    /// Notes that a task of one thread, or one that was refused, has ended.
    pub(crate) fn observe_end(&self, notes: &Notes) {
        if let Some(observed) = self.observed() {
            observed.sites.of(notes.site()).finished.bump_shared();
        }
    }

    /// Notes that a thread other than a worker wakes a task: the poller's thread, for an event or a timer, or an
    /// outside thread.
    pub(crate) fn observe_wake(&self, runnable: &Runnable, from_poller: bool) {
        let by = || match (from_poller, fires()) {
            (true, true) => WokenBy::Timer,
            (true, false) => WokenBy::Io,
            (false, _) => WokenBy::Outside,
        };
        if self.full_flight_record.load(Ordering::Relaxed) {
            self.record_wake(runnable, by());
        }
        let left = UNTIL_STAMP.with(|until| until.replace(until.get() - 1)) - 1;
        if left > 0 {
            return;
        }
        let by = by();
        UNTIL_STAMP.with(|until| until.set(stands_for(by, OUTSIDE_LEVEL)));
        if self.observed().is_some() {
            runnable.notes().set_woken(by, OUTSIDE_LEVEL, nanos(Instant::now()));
        }
    }

    #[cold]
    fn record_wake(&self, runnable: &Runnable, by: WokenBy) {
        let Some(observed) = self.observed() else { return };
        // A closure of the blocking pool, or a task of a single thread.
        let waker = if by == WokenBy::Outside { task::try_id().map_or(0, Id::number) } else { 0 };
        let what = What::Wake { by, task: runnable.id().number(), waker };
        let ring = observed.full_ring.get_or_init(|| Ring::new(true));
        let _writes = observed.writes.lock();
        let event = Event { at: nanos(Instant::now()), lasted: 0, what };
        ring.write(event.pack());
    }

    /// Notes that a closure is queued for the blocking pool.
    pub(crate) fn observe_closure(&self, notes: &Notes) {
        notes.set_blocking();
        if let Some(observed) = self.observed() {
            let now = nanos(Instant::now());
            notes.spawned(now);
            notes.set_queued(now);
            observed.sites.of(notes.site()).spawned.bump_shared();
        }
    }

    /// Runs or cancels a closure of the blocking pool, and notes how long it has waited and how long it takes.
    pub(crate) fn observe_blocking(&self, runnable: Runnable, how: fn(Runnable)) {
        let Some(observed) = self.observed() else { return how(runnable) };
        let start = nanos(Instant::now());
        let site = observed.sites.of(runnable.notes().site());
        if let Some(waited) = runnable.notes().take_queued(start) {
            observed.blocking_wait.record_shared(waited);
        }
        site.polls.bump_shared();
        runnable.notes().begin_closure(PollTime::new(start));
        how(runnable);
        let time = nanos(Instant::now()).saturating_sub(start);
        site.time.add_shared(time);
        site.longest.raise_shared(time);
        site.finished.bump_shared();
    }
}
