//! Notices what is stuck: the monitor's part.
//!
//! A worker is stuck if it is in a poll or a job and its [progress](Slot::progress) has not moved for as long as
//! [`report_long_polls`](crate::Builder::report_long_polls) says. Each is reported once. Not stuck are those that sleep in
//! a join, because others run what they wait for, and those that have said that they block, with `block_in_place`.
//!
//! The blocking pool is full while closures wait for one of its threads. The monitor stays on meanwhile, even if all
//! workers sleep, until it has reported that: whoever queues a closure which has to wait switches it on after the pool's
//! lock is released, and the monitor, having switched off, asks for such closures under the same lock.

use std::time::{Duration, Instant};

use super::reports::Suspect;
use crate::primitives::Arc;
use crate::sched::{Pool, Slot};

/// Looks in a `report_long_polls`, so that what is stuck is reported not much later than that.
const LOOKS: u32 = 4;

/// What the monitor remembers of what was stuck.
pub(crate) struct LongPollWatch {
    after: Option<Duration>,
    /// The progress at which each worker was last reported.
    reported: Vec<Option<u64>>,
    /// The closures that wait for a thread of the blocking pool, if some do.
    full: Option<Full>,
    /// A worker is awake that was not reported: it may be stuck, or soon be.
    is_open: bool,
}

/// A time in which closures wait for a thread of the blocking pool.
#[derive(Clone, Copy)]
struct Full {
    /// Its number.
    fill: u64,
    since: Instant,
    reported: bool,
}

impl LongPollWatch {
    pub(crate) fn new(pool: &Pool) -> Self {
        let after = pool.config.long_polls;
        Self { after, reported: vec![None; pool.slots.len()], full: None, is_open: false }
    }

    /// Reports what is stuck. `seen` has the progress of each worker, and since when that stands.
    pub(crate) fn look(&mut self, pool: &Arc<Pool>, seen: &[(u64, Instant)], now: Instant) {
        let Some(after) = self.after else { return };
        self.is_open = false;
        for (index, slot) in pool.slots.iter().enumerate() {
            let (progress, since) = seen[index];
            let elapsed = now.saturating_duration_since(since);
            if elapsed >= after
                && self.reported[index] != Some(progress)
                && is_in_code(slot, progress)
            {
                self.reported[index] = Some(progress);
                pool.reports.submit(pool, Suspect::worker(index, progress, since));
            }
            self.is_open |= slot.is_awake() && self.reported[index] != Some(progress);
        }
        self.look_at_blocking(pool, after, now);
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

    /// True if there is something to look at although all workers sleep.
    pub(crate) fn is_needed(&self, pool: &Pool) -> bool {
        let reported = |fill| self.full.is_some_and(|full| full.reported && full.fill == fill);
        self.after.is_some() && pool.blocking.fill().is_some_and(|(_, fill)| !reported(fill))
    }

    /// Returns how long the monitor may rest, at most.
    pub(crate) fn longest_pause(&self) -> Duration {
        let is_open = self.is_open || self.full.is_some_and(|full| !full.reported);
        self.after.filter(|_| is_open).map_or(Duration::MAX, |after| after / LOOKS)
    }
}

/// True if the worker is in code of the program, at this progress.
pub(super) fn is_in_code(slot: &Slot, progress: u64) -> bool {
    slot.activity.is_present()
        && slot.is_polling()
        && !slot.activity.is_blocked()
        && !slot.is_asleep()
        && slot.progress() == progress
}
