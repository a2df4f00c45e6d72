//! The jobs that a worker has spawned and not begun: its owner takes the newest, thieves the oldest.
//!
//! crossbeam-deque can't run under loom, so models get a list behind a lock with the same interface.

use std::collections::VecDeque;
use std::ptr::NonNull;

use super::job::Job;
use crate::primitives::{AtomicUsize, Mutex, Ordering};

/// A job on the heap that waits for a worker to run it.
pub(crate) struct Spawned(pub(super) NonNull<Job>);

// SAFETY: what it points to is `Send`, and the thread that takes it out of the list has it alone.
unsafe impl Send for Spawned {}

/// A list of jobs behind a lock. Its length is read without the lock, and orders nothing.
#[derive(Default)]
pub(super) struct JobList {
    jobs: Mutex<VecDeque<Spawned>>,
    len: AtomicUsize,
}

impl JobList {
    fn change<R>(&self, f: impl FnOnce(&mut VecDeque<Spawned>) -> R) -> R {
        let mut jobs = self.jobs.lock();
        let result = f(&mut jobs);
        self.len.store(jobs.len(), Ordering::Relaxed);
        result
    }

    pub(super) fn push_back(&self, job: Spawned) {
        self.change(|jobs| jobs.push_back(job));
    }

    pub(super) fn pop_front(&self) -> Option<Spawned> {
        if self.is_empty() { None } else { self.change(VecDeque::pop_front) }
    }

    #[cfg(loom)]
    fn pop_back(&self) -> Option<Spawned> {
        if self.is_empty() { None } else { self.change(VecDeque::pop_back) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }
}

#[cfg(not(loom))]
mod real {
    use crossbeam_deque::{self as deque, Steal};

    use super::Spawned;

    /// The owner's end.
    pub(crate) struct SpawnedJobs(deque::Worker<Spawned>);

    /// The thieves' end.
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
}

#[cfg(loom)]
mod model {
    use super::{JobList, Spawned};
    use crate::primitives::Arc;

    pub(crate) struct SpawnedJobs(Arc<JobList>);
    pub(crate) struct SpawnedStealer(Arc<JobList>);

    impl SpawnedJobs {
        pub(crate) fn new() -> Self {
            Self(Arc::new(JobList::default()))
        }

        pub(crate) fn push(&self, job: Spawned) {
            self.0.push_back(job);
        }

        pub(crate) fn pop(&self) -> Option<Spawned> {
            // Only the owner fills it, so what it sees empty is.
            self.0.pop_back()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }

        pub(crate) fn stealer(&self) -> SpawnedStealer {
            SpawnedStealer(self.0.clone())
        }
    }

    impl SpawnedStealer {
        pub(crate) fn steal(&self) -> Option<Spawned> {
            self.0.pop_front()
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.0.is_empty()
        }
    }
}

#[cfg(loom)]
pub(crate) use model::{SpawnedJobs, SpawnedStealer};
#[cfg(not(loom))]
pub(crate) use real::{SpawnedJobs, SpawnedStealer};
