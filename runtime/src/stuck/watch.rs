//! Notices what is stuck: the monitor's part.
//!
//! A worker is stuck if it is in a poll or a job and its [progress](Slot::progress) has not moved for as long as
//! [`report_long_polls`](crate::Builder::report_long_polls) says. Each is reported once. A worker that sleeps in a join
//! is not stuck, because others run what it waits for. Neither is one that has declared, with `block_in_place`, that it
//! blocks.
//!
//! The blocking pool is full while closures wait for one of its threads. Until the monitor has reported that, it stays
//! on, even if all workers sleep. A thread that queues a closure that has to wait switches the monitor on after
//! releasing the pool's lock. After switching off, the monitor checks for such closures under the same lock.

use std::time::{Duration, Instant};

use super::reports::Suspect;
use crate::observe::DumpCause;
use crate::primitives::Arc;
use crate::sched::{Pool, Slot};

use super::policy::LOOKS_PER_REPORT;

/// The monitor's memory of what was stuck.
pub(crate) struct LongPollWatch {
    /// When a report is due, and when a dump of the flight record is.
    report: Option<Threshold>,
    dump: Option<Threshold>,
    /// The closures that wait for a thread of the blocking pool, if any do.
    full: Option<Full>,
    /// True if a worker is awake that has not been reported: it may be stuck, or soon be.
    is_open: bool,
}

/// The time after which a stuck worker is reported, or has the flight record dumped.
struct Threshold {
    after: Duration,
    /// The progress of each worker when it was last reported.
    reported: Vec<Option<u64>>,
}

impl Threshold {
    fn new(after: Duration, workers: usize) -> Self {
        Self { after, reported: vec![None; workers] }
    }

    /// Returns true if the worker has not been reported at this progress.
    fn is_open(&self, index: usize, progress: u64) -> bool {
        self.reported[index] != Some(progress)
    }

    /// Notes that the worker is reported if it has been at this progress for long enough and `is_stuck`. Returns true
    /// if so, which happens once for each progress.
    fn note_due(
        &mut self,
        index: usize,
        progress: u64,
        elapsed: Duration,
        is_stuck: impl FnOnce() -> bool,
    ) -> bool {
        let is_due = elapsed >= self.after && self.is_open(index, progress) && is_stuck();
        if is_due {
            self.reported[index] = Some(progress);
        }
        is_due
    }
}

/// A period in which closures wait for a thread of the blocking pool.
#[derive(Clone, Copy)]
struct Full {
    /// Its number.
    fill: u64,
    since: Instant,
    reported: bool,
}

impl LongPollWatch {
    pub(crate) fn new(pool: &Pool) -> Self {
        let threshold = |after| Threshold::new(after, pool.slots.len());
        Self {
            report: pool.config.long_polls.map(threshold),
            dump: pool.dumper.long_polls().map(threshold),
            full: None,
            is_open: false,
        }
    }

    /// Reports what is stuck, and has the flight record dumped. `seen` has the progress of each worker, and since when
    /// it has not changed.
    pub(crate) fn look(&mut self, pool: &Arc<Pool>, seen: &[(u64, Instant)], now: Instant) {
        if self.thresholds().next().is_none() {
            return;
        }
        self.is_open = false;
        for (index, slot) in pool.slots.iter().enumerate() {
            let (progress, since) = seen[index];
            let elapsed = now.saturating_duration_since(since);
            let is_stuck = || is_in_code(slot, progress);
            let is_due =
                |threshold: &mut Threshold| threshold.note_due(index, progress, elapsed, is_stuck);
            if self.report.as_mut().is_some_and(is_due) {
                pool.reports.submit(pool, Suspect::worker(index, progress, since));
            }
            let is_poll = || is_stuck() && !slot.activity.is_computing();
            let is_due =
                |threshold: &mut Threshold| threshold.note_due(index, progress, elapsed, is_poll);
            if self.dump.as_mut().is_some_and(is_due) {
                let cause = DumpCause::LongPoll { worker: index, lasted: elapsed };
                pool.dumper.trigger(pool, cause, now);
            }
            let is_open = |threshold: &Threshold| threshold.is_open(index, progress);
            let may_be_told = slot.is_awake() && self.thresholds().any(is_open);
            self.is_open |= may_be_told;
        }
        if let Some(after) = self.report.as_ref().map(|report| report.after) {
            self.look_at_blocking(pool, after, now);
        }
    }

    /// Discounts this much time, in which nothing ran.
    pub(crate) fn leave_out(&mut self, time: Duration) {
        if let Some(full) = &mut self.full {
            full.since += time;
        }
    }

    fn thresholds(&self) -> impl Iterator<Item = &Threshold> {
        self.report.iter().chain(&self.dump)
    }

    fn look_at_blocking(&mut self, pool: &Arc<Pool>, after: Duration, now: Instant) {
        let fill = pool.blocking.fill().map(|(_, fill)| fill);
        let before = self.full.filter(|full| Some(full.fill) == fill);
        self.full = before.or(fill.map(|fill| Full { fill, since: now, reported: false }));
        if let Some(full) = &mut self.full {
            if !full.reported && now.saturating_duration_since(full.since) >= after {
                full.reported = true;
                pool.reports.submit(pool, Suspect::blocking(full.fill, full.since));
            }
        }
    }

    /// Returns true if there is something to look at although all workers sleep.
    pub(crate) fn is_needed(&self, pool: &Pool) -> bool {
        let reported = |fill| self.full.is_some_and(|full| full.reported && full.fill == fill);
        self.report.is_some() && pool.blocking.fill().is_some_and(|(_, fill)| !reported(fill))
    }

    /// Returns how long the monitor may rest, at most.
    pub(crate) fn longest_pause(&self) -> Duration {
        let is_open = self.is_open || self.full.is_some_and(|full| !full.reported);
        let shortest = self.thresholds().map(|threshold| threshold.after).min();
        shortest.filter(|_| is_open).map_or(Duration::MAX, |after| after / LOOKS_PER_REPORT)
    }
}

/// Returns true if the worker is in code of the program, at this progress.
pub(super) fn is_in_code(slot: &Slot, progress: u64) -> bool {
    slot.activity.is_present()
        && slot.is_polling()
        && !slot.activity.is_blocked()
        && !slot.is_asleep()
        && slot.progress() == progress
}
