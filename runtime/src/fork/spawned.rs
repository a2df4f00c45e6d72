//! The jobs that a worker has spawned and nobody has begun: their owner takes the newest, thieves the oldest.

use std::ptr::NonNull;

use super::job::Job;
use crate::context;
use crate::deque::{Deque, LockedList, Stealer};
use crate::sched::Worker;

/// A job on the heap that waits for a worker to run it.
pub(crate) struct Spawned(pub(super) NonNull<Job>);

// SAFETY: what it points to is `Send`, and only the thread that takes it out of the list has it.
unsafe impl Send for Spawned {}

/// A list of jobs behind a lock.
pub(super) type JobList = LockedList<Spawned>;

/// The owner's end of its spawned jobs: newest first.
pub(crate) type SpawnedJobs = Deque<Spawned>;

/// The thieves' end of a worker's spawned jobs: oldest first.
pub(crate) type SpawnedStealer = Stealer<Spawned>;

impl Worker {
    /// Called before a spawned job is run, which may have no split points: offers the oldest of the others.
    pub(super) fn attend_to_spawned(&self) {
        if self.pending.offers_nothing() && self.pending.offer_oldest() {
            self.announce_offer();
        }
        if self.pool.has_idle() || !self.computation.pace.is_fine() {
            self.wake_for_shared();
        }
    }

    /// Called between two spawned jobs that this worker runs, which may have no split points: as at a spawn, it may be
    /// time to look after tasks.
    pub(super) fn attend_between_jobs(&self) {
        if self.pending.has_spawned() && self.pending.count_down() {
            self.attend();
        }
    }

    /// Runs what is left of jobs. With no scope around, other threads wait for them.
    pub(super) fn run_spawned(&self) {
        let mut aside = None;
        while let Some(job) = self.pending.pop_spawned(self.index()) {
            aside.get_or_insert_with(context::set_aside);
            self.attend_to_spawned();
            job.run(self);
            self.attend_between_jobs();
        }
    }

    /// Queues a job on the heap. If nobody waits for it, it is run at the end of the poll or job at the latest.
    pub(super) fn push_job(&self, job: NonNull<Job>, is_detached: bool) {
        let pace = &self.computation.pace;
        let is_short = pace.is_fine() && !pace.is_probing();
        if self.pending.push_spawned(job) || !is_short {
            self.announce_offer();
            // Otherwise it is left to the thread that comes for the offer, or to the monitor.
        } else if is_detached {
            self.note_computing();
        }
        if self.pending.count_down() {
            self.attend();
        }
    }

    /// Runs one job, if there is one; with `local`, one of this worker's own: spawned here, the second half of a join
    /// that this worker is inside of, or posted to it.
    #[cfg(not(loom))]
    pub(super) fn help(&self, local: bool) -> bool {
        let index = self.index();
        let job = self.pending.pop_spawned(index);
        let job = job.or_else(|| self.pending.take_oldest_join(index));
        let job = job.or_else(|| self.take_posted_here());
        let job = if local { job } else { job.or_else(|| self.steal_job()) };
        let Some(job) = job else { return false };
        let _aside = context::set_aside();
        self.attend_to_spawned();
        job.run(self);
        true
    }
}
