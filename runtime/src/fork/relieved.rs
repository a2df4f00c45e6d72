//! The relieved worker: a spare looks after its tasks, and between two jobs it waits for the next one as a joiner does.
//!
//! On the sleepers' stack it would lie on top of the spare, and be woken in its place when an event has come. It would
//! then get tasks that it should leave to the spare, while the spare sleeps. So it waits beside the stack, for about as
//! long as the next leaf may take to come, and looks to others like a worker that computes. It is woken
//!
//! - for an offer, by [`Pool::wake_thief`], as any joiner;
//! - for a root, by the thread that queues it ([`Pool::wake_for_root`]);
//! - for the end of the runtime or its own, with all others.
//!
//! Each of these threads first queues or stores the reason, passes a fence, and looks for announcements; the worker
//! announces that it sleeps, passes a fence, and looks for a reason. So one sees the other. It is not woken for tasks:
//! now and then it checks whether the spare makes progress, and if not, takes the tasks over. When its time is over, it
//! falls asleep like every other worker.

use std::time::{Duration, Instant};

use super::job::JobRef;
use super::policy::GLANCE;
use crate::sched::policy::TIMELESS;
use crate::sched::{Pool, WaitKind, Worker};

impl Worker {
    /// Waits a moment for a job. Returns `None` if there is something else to look for, or no job has come.
    pub(super) fn await_job(&self) -> Option<JobRef> {
        let wait = self.pool.config.next_job?;
        let slot = self.slot();
        // Nobody must count on it for tasks, or name what it has polled last.
        slot.note_poll(None);
        slot.counters.waits.bump();
        slot.counters.tick.bump();
        slot.activity.compute();
        let wanted = || self.is_wanted_elsewhere();
        let job = self.look_around(wanted).or_else(|| self.sleep_awaiting(wait));
        slot.activity.interrupt();
        slot.counters.tick.bump();
        job
    }

    fn sleep_awaiting(&self, wait: Duration) -> Option<JobRef> {
        let end = Instant::now().checked_add(wait);
        let glance = if TIMELESS { wait } else { GLANCE };
        let mut seen = self.relief().progress_of_spare();
        loop {
            let next = Instant::now().checked_add(glance);
            self.sleep_joining(WaitKind::Job, &|| self.is_wanted_elsewhere(), next.min(end));
            // The thread that has woken us for something else has woken no other worker.
            if self.is_wanted_elsewhere() {
                return None;
            }
            if let Some(job) = self.steal_job() {
                return Some(job);
            }
            let progress = self.relief().progress_of_spare();
            let stuck = progress.is_some() && progress == seen;
            if stuck && (self.pool.has_shared_work() || self.pool.has_kept_work()) {
                self.woken.set(true);
                return None;
            }
            if end.is_none_or(|end| Instant::now() >= end) {
                return None;
            }
            seen = progress;
        }
    }

    /// Returns true if there is something to do besides jobs.
    fn is_wanted_elsewhere(&self) -> bool {
        self.pool.has_root() || self.may_leave() || !self.relief().has_spare_for_tasks()
    }
}

impl Pool {
    /// Wakes a worker that waits for a job. Returns false if there is none. The caller has queued a root, and passed a
    /// fence.
    pub(crate) fn wake_for_root(&self) -> bool {
        self.has_joiners()
            && (0..self.slots.len()).any(|index| self.wake_waiter(index, WaitKind::Job))
    }
}
