//! The jobs that a worker has spawned and not begun: its owner takes the newest, thieves the oldest.

use std::ptr::NonNull;

use super::job::Job;
use crate::deque::{self, LockedList, Steal};

/// A job on the heap that waits for a worker to run it.
pub(crate) struct Spawned(pub(super) NonNull<Job>);

// SAFETY: what it points to is `Send`, and the thread that takes it out of the list has it alone.
unsafe impl Send for Spawned {}

/// A list of jobs behind a lock.
pub(super) type JobList = LockedList<Spawned>;

/// The owner's end of its spawned jobs: newest first.
pub(crate) struct SpawnedJobs(deque::Worker<Spawned>);

/// The thieves' end of a worker's spawned jobs: oldest first.
pub(crate) struct SpawnedStealer(deque::Stealer<Spawned>);

impl SpawnedJobs {
    pub(crate) fn new() -> Self {
        Self(deque::Worker::new_lifo())
    }

    #[inline]
    pub(crate) fn push(&self, job: Spawned) {
        self.0.push(job);
    }

    #[inline]
    pub(crate) fn pop(&self) -> Option<Spawned> {
        self.0.pop()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn stealer(&self) -> SpawnedStealer {
        SpawnedStealer(self.0.stealer())
    }
}

impl SpawnedStealer {
    /// Takes the oldest.
    pub(crate) fn steal(&self) -> Option<Spawned> {
        while !self.is_empty() {
            match self.0.steal() {
                Steal::Success(job) => return Some(job),
                Steal::Empty => return None,
                Steal::Retry => std::hint::spin_loop(),
            }
        }
        None
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
