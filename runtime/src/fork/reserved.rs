//! Jobs that are reserved for the workers: spares run none of them.
//!
//! Programs that use rayon keep a buffer for each thread, found by `rayon::current_thread_index()`. Two threads that
//! show the same index at the same time would share a buffer. So the index of a thread is that of its place, only
//! workers show one, and **spares run no job once rayon is used on a pool**:
//!
//! - a place has one thread at a time, and there are as many indices as workers, so that no two threads show the same;
//! - a spare is there for tasks alone from then on, whatever it was sent for
//!   (`Worker::may_compute`). In the joins and scopes of its own tasks it runs what they have
//!   forked, as a guest does, and steals nothing;
//! - a call of rayon by a task on a spare is posted to the workers, as it is from a thread outside.
//!
//! Rejected: using the index of the worker that a spare stands in for. That worker may be in the middle of a job
//! itself, or come back and begin one, while the spare is in another.
//!
//! # From when on
//!
//! The first call of rayon on a pool sets a flag before it makes a job. A spare that saw no flag may be about to take
//! that very job. But a thread that takes a job acquires what came before the job was made. So the spare looks at the
//! flag once more after it has taken a job, and if it is set, posts the job to the workers.
//!
//! No call is lost either. A thread that makes a job stealable passes a fence before it looks for sleepers, and the
//! thread that sets the flag passes one between setting it and waking all. If the former fence comes first, the workers
//! that are woken see the job; if the latter does, the flag is seen, and no spare is called.
//!
//! A pool that closes makes no difference between workers and spares: what is left is run by any of them that is left.

use crossbeam_utils::CachePadded;

use crate::primitives::{Arc, Ordering, fence};
use crate::sched::{Pool, Slot};

impl Pool {
    /// Reserves jobs for the workers from now on. Called before the first job that uses the index of its thread is
    /// made.
    #[inline]
    pub(crate) fn reserve_jobs(&self) {
        if !self.has_reserved_jobs() {
            self.begin_to_reserve();
        }
    }

    #[cold]
    fn begin_to_reserve(&self) {
        // Relaxed: published with the jobs.
        self.jobs_reserved.store(true, Ordering::Relaxed);
        // Partner of the fence in `wake_thief`: see the head of this file.
        fence(Ordering::SeqCst);
        self.wake_all();
    }

    /// Returns true if jobs are for the workers alone.
    #[inline]
    pub(crate) fn has_reserved_jobs(&self) -> bool {
        // Relaxed: see the head of this file.
        self.jobs_reserved.load(Ordering::Relaxed)
    }

    /// Returns the slots of the threads that may run jobs.
    pub(crate) fn computing_slots(&self) -> &[Arc<CachePadded<Slot>>] {
        let all = self.config.spares == 0 || !self.has_reserved_jobs();
        if all { &self.slots } else { &self.slots[..self.config.workers] }
    }
}
