//! A worker whose tasks a spare looks after, between two jobs: it waits for the next one as a joiner does.
//!
//! On the sleepers' stack it would lie on top of the spare, and be called in its place for what the OS has brought. Then it
//! would have the tasks, of which it is to take none, and the spare would sleep. So it waits beside the stack, for as long
//! as one leaf often comes after the other, and shows itself as one who computes. Called it is
//!
//! - for an offer, by [`Pool::wake_thief`], as any joiner;
//! - for a root, by whoever queues it ([`Pool::call_for_root`]);
//! - for the end of the runtime or its own, with all others.
//!
//! All of them say what it is about, pass a fence, and look for who sleeps as a joiner; it says that it sleeps, passes a fence, and looks
//! whether something is about. So one sees the other. Nobody calls it for tasks: now and then it looks by itself whether
//! the spare gets on, and takes them over if not. After the time it falls asleep like everybody else.

use std::time::{Duration, Instant};

use super::job::JobRef;
use crate::primitives::Ordering;
use crate::primitives::plain::Ordering as Plain;
use crate::sched::{Pool, Worker};

/// How long a worker waits for its next job beside the sleepers' stack.
pub(crate) const NEXT_JOB: Duration = Duration::from_millis(1);
/// How often it looks whether its spare gets on meanwhile.
const GLANCE: Duration = Duration::from_micros(200);

impl Worker {
    /// Waits a moment for a job; `None` if there is something else to look for, or none has come.
    pub(super) fn await_job(&self) -> Option<JobRef> {
        let wait = self.pool.config.next_job?;
        let slot = self.slot();
        // Nobody is to count on it for tasks, nor to name what it has polled last.
        slot.polls(None);
        slot.counters.waits.bump();
        slot.counters.tick.bump();
        slot.computing.store(true, Plain::Relaxed);
        // Relaxed, here and below: who goes by it to call us goes by `joining` too.
        slot.awaiting.store(true, Ordering::Relaxed);
        let wanted = || self.is_wanted_elsewhere();
        let job = self.look_around(wanted).or_else(|| self.sleep_awaiting(wait));
        slot.awaiting.store(false, Ordering::Relaxed);
        slot.computing.store(false, Plain::Relaxed);
        slot.counters.tick.bump();
        job
    }

    fn sleep_awaiting(&self, wait: Duration) -> Option<JobRef> {
        let end = Instant::now().checked_add(wait);
        // Time does not pass in models.
        let glance = if cfg!(loom) { wait } else { GLANCE };
        let mut seen = self.progress_of_spare();
        loop {
            let next = Instant::now().checked_add(glance);
            self.sleep_joining(&|| self.is_wanted_elsewhere(), next.min(end));
            // Whoever has called us for something else has called nobody besides us.
            if self.is_wanted_elsewhere() {
                return None;
            }
            if let Some(job) = self.steal_job() {
                return Some(job);
            }
            let progress = self.progress_of_spare();
            let stuck = progress.is_some() && progress == seen;
            if stuck && (self.pool.has_shared_work() || self.pool.has_kept_work()) {
                self.called.set(true);
                return None;
            }
            if end.is_none_or(|end| Instant::now() >= end) {
                return None;
            }
            seen = progress;
        }
    }

    /// Stands still if the spare that stands in for this worker is held up in a poll; `None` if it is in none.
    fn progress_of_spare(&self) -> Option<u64> {
        let spare = &self.pool.slots[self.slot().spare()?];
        Some(spare.progress()).filter(|progress| progress % 2 == 1)
    }

    /// True if there is something to do besides jobs.
    fn is_wanted_elsewhere(&self) -> bool {
        self.pool.has_root() || self.may_leave() || !self.has_spare_for_tasks()
    }
}

impl Pool {
    /// Calls a worker that waits for a job; false if there is none. The caller has queued a root, and passed a fence.
    pub(crate) fn call_for_root(&self) -> bool {
        self.has_joiners()
            && (0..self.slots.len()).any(|index| {
                self.slots[index].awaiting.load(Ordering::Relaxed) && self.call_joiner(index)
            })
    }
}
