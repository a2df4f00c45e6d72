//! A worker whose tasks a spare looks after, between two jobs: it waits for the next one as a joiner does.
//!
//! On the sleepers' stack it would lie on top of the spare, and be called in its place for what the OS has brought. Then it
//! would have the tasks, of which it is to take none, and the spare would sleep. So it waits beside the stack, for as long
//! as one leaf often comes after the other, and shows itself as one who computes. Called it is
//!
//! - for an offer, by [`Pool::wake_thief`], as any joiner;
//! - for a root, by whoever queues it ([`Pool::call_for_root`]);
//! - for tasks, by the watch, if the spare is stuck ([`Pool::call_for_tasks`]): `awaiting` is taken back then;
//! - for the end of the runtime or its own, with all others.
//!
//! All of them say what it is about, pass a fence, and look for who sleeps as a joiner; it says that it sleeps, passes a fence, and looks
//! whether something is about. So one sees the other. After the time it falls asleep like everybody else.

use std::time::{Duration, Instant};

use super::job::JobRef;
use crate::primitives::plain::Ordering as Plain;
use crate::primitives::{Ordering, fence};
use crate::sched::{Pool, Worker};

/// How long a worker waits for its next job beside the sleepers' stack.
pub(crate) const NEXT_JOB: Duration = Duration::from_millis(1);

impl Worker {
    /// Waits a moment for a job; `None` if there is something else to look for, or none has come.
    pub(super) fn await_job(&self) -> Option<JobRef> {
        let wait = self.pool.config.next_job?;
        let slot = self.slot();
        // Nobody is to count on it for tasks, nor to name what it has polled last.
        slot.polls(None);
        slot.counters.tick.bump();
        slot.computing.store(true, Plain::Relaxed);
        // Relaxed: who takes it back and then calls us, or sees that we don't sleep, has passed a fence.
        slot.awaiting.store(true, Ordering::Relaxed);
        let job = self.look_around(|| self.is_wanted_elsewhere()).or_else(|| {
            self.sleep_joining(&|| self.is_wanted_elsewhere(), Instant::now().checked_add(wait));
            // Whoever has called us for something else has called nobody besides us.
            if self.is_wanted_elsewhere() { None } else { self.steal_job() }
        });
        // Relaxed: as above.
        let for_tasks = !slot.awaiting.swap(false, Ordering::Relaxed);
        self.called.set(for_tasks);
        slot.computing.store(false, Plain::Relaxed);
        slot.counters.tick.bump();
        job
    }

    /// True if there is something to do besides jobs.
    fn is_wanted_elsewhere(&self) -> bool {
        let for_tasks = !self.slot().awaiting.load(Ordering::Relaxed);
        for_tasks || self.pool.has_root() || self.may_leave()
    }
}

impl Pool {
    /// Calls a worker that waits for a job; false if there is none. The caller has queued a root, and passed a fence.
    pub(crate) fn call_for_root(&self) -> bool {
        self.joiners.load(Plain::Relaxed) > 0
            && (0..self.slots.len()).any(|index| {
                self.slots[index].awaiting.load(Ordering::Relaxed) && self.call_joiner(index)
            })
    }

    /// Has a worker that waits for a job look after tasks; false if there is none.
    pub(crate) fn call_for_tasks(&self) -> bool {
        let wanted = |&index: &usize| {
            let awaiting = &self.slots[index].awaiting;
            awaiting.load(Ordering::Relaxed) && awaiting.swap(false, Ordering::Relaxed)
        };
        let Some(index) = (0..self.slots.len()).find(wanted) else { return false };
        // Partner of the fence in `sleep_joining`: either it sees that it is wanted, or we see that it sleeps.
        fence(Ordering::SeqCst);
        self.call_joiner(index);
        true
    }
}
