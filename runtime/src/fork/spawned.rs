//! The jobs that a worker has spawned and nobody has begun: their owner takes the newest, thieves the oldest.

use std::ptr::NonNull;

use super::job::Job;
use crate::deque::{Deque, LockedList, Stealer};

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
