//! What threads that are no workers note about the tasks that they spawn and wake.

use std::time::Instant;

use windlass_timer::nanos;

use super::event::{Event, What};
use super::policy::STAMP_EVERY;
use super::ring::Ring;
use super::watch::Watch;
use crate::poller::fires;
use crate::primitives::plain::Ordering;
use crate::sched::Pool;
use crate::task::{self, Header, Id, Notes, PollMark, PollTime, Runnable, WokenBy};

windlass_sync::thread_cell!(static UNTIL_STAMP: u32 = 1);

impl Pool {
    /// Returns true if what the runtime does is observed. No time passes in models.
    pub(crate) fn is_observed(&self) -> bool {
        self.config.observe && cfg!(not(loom))
    }

    fn watch_outside(&self) -> Option<&Watch> {
        self.is_observed().then(|| &**self.outside.open())
    }

    /// A task is being spawned for any worker to take.
    pub(crate) fn observe_spawn(&self, notes: &Notes) {
        if let Some(watch) = self.watch_outside() {
            notes.spawned(nanos(Instant::now()));
            watch.sites.of(notes.site()).spawned.bump_shared();
        }
    }

    /// A task of one thread begins a poll, at this time, which is to be timed.
    pub(crate) fn observe_local_poll(&self, notes: &Notes, now: u64) {
        if let Some(watch) = self.watch_outside() {
            let _ = notes.begin_poll(PollTime::new(now), PollMark::TIMED);
            watch.sites.of(notes.site()).polls.bump_shared();
        }
    }

    /// A poll of such a task is over, that began at the first of these times and ended at the second.
    pub(crate) fn observe_local_time(&self, task: &Header, start: u64, now: u64) {
        let Some(watch) = self.watch_outside().filter(|_| task.notes.take_timed()) else { return };
        let time = now.saturating_sub(start).max(1);
        task.notes.add_busy(time);
        let site = watch.sites.of(task.notes.site());
        site.time.add_shared(time);
        site.longest.raise_shared(time);
    }

    /// A task of one thread has ended.
    pub(crate) fn observe_local_end(&self, notes: &Notes) {
        self.observe_refusal(notes);
    }

    /// A task has ended that was refused.
    pub(crate) fn observe_refusal(&self, notes: &Notes) {
        if let Some(watch) = self.watch_outside() {
            watch.sites.of(notes.site()).finished.bump_shared();
        }
    }

    /// A task is woken by another thread than a worker; by the poller's, because of an event or a timer.
    pub(crate) fn observe_wake(&self, runnable: &Runnable, from_poller: bool) {
        let by = || match (from_poller, fires()) {
            (true, true) => WokenBy::Timer,
            (true, false) => WokenBy::Io,
            (false, _) => WokenBy::Foreign,
        };
        if self.full_flight_record.load(Ordering::Relaxed) {
            self.record_wake(runnable, by());
        }
        let left = UNTIL_STAMP.with(|until| until.replace(until.get() - 1)) - 1;
        if left > 0 {
            return;
        }
        let by = by();
        UNTIL_STAMP.with(|until| until.set(STAMP_EVERY[by as usize]));
        if self.watch_outside().is_some() {
            runnable.notes().set_woken(by, nanos(Instant::now()));
        }
    }

    #[cold]
    fn record_wake(&self, runnable: &Runnable, by: WokenBy) {
        let Some(watch) = self.watch_outside() else { return };
        // A closure of the blocking pool, or a task of a single thread.
        let waker = if by == WokenBy::Foreign { task::try_id().map_or(0, Id::number) } else { 0 };
        let what = What::Wake { by, task: runnable.id().number(), waker };
        let ring = watch.full_ring.get_or_init(|| Ring::new(true));
        let _writes = watch.writes.lock();
        let event = Event { at: nanos(Instant::now()), lasted: 0, what };
        ring.write(event.pack());
    }

    /// A closure is queued for the blocking pool.
    pub(crate) fn observe_closure(&self, notes: &Notes) {
        notes.set_blocking();
        if let Some(watch) = self.watch_outside() {
            let now = nanos(Instant::now());
            notes.spawned(now);
            notes.set_queued(now);
            watch.sites.of(notes.site()).spawned.bump_shared();
        }
    }

    /// Runs or cancels a closure of the blocking pool, and notes how long it has waited and how long it takes.
    pub(crate) fn observe_blocking(&self, runnable: Runnable, how: fn(Runnable)) {
        let Some(watch) = self.watch_outside() else { return how(runnable) };
        let start = nanos(Instant::now());
        let site = watch.sites.of(runnable.notes().site());
        if let Some(waited) = runnable.notes().take_queued(start) {
            watch.blocking_wait.record_shared(waited);
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
