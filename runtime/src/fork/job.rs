//! Jobs: closures that are run once, by the thread that takes them.
//!
//! A [`StackJob`] lies in the frame of the `join` that waits for it, and is reached through a bare
//! pointer to its header. The protocol that keeps it alive and run once is in `README.md`.

use std::mem::MaybeUninit;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;
use std::thread;

use super::latch::JoinLatch;
use crate::context;
use crate::primitives::UnsafeCell;
use crate::sched::Worker;
use crate::task::Joiner;

/// The header of a job: how it is run.
pub(crate) struct Job {
    run: unsafe fn(NonNull<Job>, &Worker, usize),
}

impl Job {
    /// # Safety
    ///
    /// `run` must be right for the job whose header this becomes.
    pub(super) unsafe fn new(run: unsafe fn(NonNull<Job>, &Worker, usize)) -> Self {
        Self { run }
    }
}

/// The right, and the duty, to run a job. Remembers which worker it came from.
#[must_use = "a job that is not run has its joiner wait for ever"]
pub(crate) struct JobRef {
    job: NonNull<Job>,
    from: usize,
}

impl JobRef {
    /// # Safety
    ///
    /// The caller has just taken the job out of an offer, or out of its own list, of worker `from`.
    pub(super) unsafe fn new(job: NonNull<Job>, from: usize) -> Self {
        Self { job, from }
    }

    /// Returns true if it was taken from this worker.
    pub(super) fn is_from(&self, worker: usize) -> bool {
        self.from == worker
    }

    /// Returns the worker that it was taken from.
    pub(super) fn from(&self) -> usize {
        self.from
    }

    /// Runs the job on the current thread, which is `worker`'s, and has set aside what it had entered. Does not unwind.
    #[inline]
    pub(crate) fn run(self, worker: &Worker) {
        // SAFETY: the holder of the `JobRef` is the only one to run the job, which its owner keeps
        // until it is done.
        unsafe { (self.job.as_ref().run)(self.job, worker, self.from) };
        context::leave_forgotten();
    }
}

/// A closure on the heap, which is freed when it is run.
#[repr(C)]
pub(super) struct HeapJob<F> {
    job: Job,
    f: F,
}

impl<F: FnOnce(&Worker)> HeapJob<F> {
    /// Puts a closure, which must not unwind, onto the heap, to be run once. What it borrows must be there until then.
    pub(super) fn leak(f: F) -> NonNull<Job> {
        // SAFETY: `repr(C)` with the header first.
        let job = unsafe { Job::new(Self::run) };
        NonNull::from(Box::leak(Box::new(Self { job, f }))).cast()
    }

    /// # Safety
    ///
    /// As for `JobRef::run`.
    unsafe fn run(job: NonNull<Job>, worker: &Worker, _from: usize) {
        // SAFETY: leaked, and run once.
        let Self { f, .. } = *unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        f(worker);
    }
}

/// A closure in its joiner's frame, and its result once a thief has run it.
///
/// Neither is dropped with the job: the closure is taken by the thread that runs it, and the result by
/// the joiner.
#[repr(C)]
pub(crate) struct StackJob<F, R> {
    job: Job,
    latch: JoinLatch,
    joiner: Joiner,
    closure: UnsafeCell<MaybeUninit<F>>,
    result: UnsafeCell<MaybeUninit<thread::Result<R>>>,
}

impl<F, R> StackJob<F, R>
where
    F: FnOnce() -> R,
{
    #[inline(always)]
    pub(crate) fn new(closure: F) -> Self {
        Self {
            // SAFETY: `repr(C)` with the header first.
            job: unsafe { Job::new(Self::run) },
            latch: JoinLatch::new(),
            joiner: Joiner::here(),
            closure: UnsafeCell::new(MaybeUninit::new(closure)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[inline(always)]
    pub(crate) fn as_job(&self) -> NonNull<Job> {
        // From the whole, so that the pointer may be used for all of it.
        NonNull::from(self).cast()
    }

    pub(crate) fn latch(&self) -> &JoinLatch {
        &self.latch
    }

    /// # Safety
    ///
    /// The caller runs the job, and nobody else does.
    #[inline(always)]
    pub(crate) unsafe fn take_closure(&self) -> F {
        // SAFETY: there since `new`, and taken once.
        self.closure.with(|closure| unsafe { closure.read().assume_init() })
    }

    /// # Safety
    ///
    /// The latch was seen set, and the result has not been taken.
    pub(crate) unsafe fn take_result(&self) -> thread::Result<R> {
        // SAFETY: written before the latch was set.
        self.result.with(|result| unsafe { result.read().assume_init() })
    }

    /// # Safety
    ///
    /// As for [`JobRef::run`], by a thief.
    unsafe fn run(job: NonNull<Job>, worker: &Worker, from: usize) {
        let this = job.cast::<Self>().as_ptr();
        // SAFETY: the joiner keeps its frame until the latch is set, and nobody else runs the job.
        let closure = unsafe { (*this).take_closure() };
        // SAFETY: as above.
        let joiner = unsafe { (*this).joiner };
        // SAFETY: as above: the joiner is where it was.
        let closure = || unsafe { joiner.on_behalf(closure) };
        let result = panic::catch_unwind(AssertUnwindSafe(closure));
        // SAFETY: as above; the joiner reads it after the latch.
        unsafe { (*this).result.with_mut(|place| (*place).write(result)) };
        // SAFETY: as above. From here on the frame may be gone.
        unsafe { JoinLatch::set(&raw const (*this).latch) };
        worker.latch_was_set(from);
    }
}
