//! The one job of a worker that others may take.

use std::ptr::{self, NonNull};

use super::job::Job;
use crate::primitives::plain::{AtomicU32, Ordering as Plain};
use crate::primitives::{AtomicPtr, Ordering, peek_pointer};

/// The offer of one worker. Only its owner fills it. It is emptied by a thief, or by the owner, which takes its job
/// back.
pub(crate) struct Offer {
    job: AtomicPtr<Job>,
    /// Counts the jobs that were put in, so that a thief can tell one from the next. Orders nothing.
    number: AtomicU32,
}

impl Offer {
    pub(crate) fn new() -> Self {
        Self { job: AtomicPtr::new(ptr::null_mut()), number: AtomicU32::new(0) }
    }

    /// Returns true if nothing is on offer. Orders nothing.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.job.load(Ordering::Relaxed).is_null()
    }

    /// Puts a job in. Called by the owner, which has seen it empty.
    pub(super) fn put(&self, job: NonNull<Job>) {
        // Nobody else fills it, so it is still empty. Release pairs with the Acquire in `take`.
        self.job.store(job.as_ptr(), Ordering::Release);
        self.number.store(self.number().wrapping_add(1), Plain::Relaxed);
    }

    /// Returns a number that differs for each job that was put in.
    pub(super) fn number(&self) -> u32 {
        self.number.load(Plain::Relaxed)
    }

    /// Takes the job out, by a thief.
    pub(super) fn take(&self) -> Option<NonNull<Job>> {
        let job = NonNull::new(peek_pointer(&self.job))?;
        // Acquire pairs with the Release in `put`: the closure is seen as its owner left it. The job may have been
        // taken back meanwhile, and another offered from the same place. Then that one is taken. A swap would do as
        // well, but loom gets it wrong: see `loom_itself` among the models.
        self.job
            .compare_exchange(job.as_ptr(), ptr::null_mut(), Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
            .then_some(job)
    }

    /// Takes this job out, by the owner. Returns false if a thief has it.
    pub(super) fn take_back(&self, job: NonNull<Job>) -> bool {
        // Relaxed: what the owner gets back, it has written itself.
        self.job
            .compare_exchange(job.as_ptr(), ptr::null_mut(), Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }
}
