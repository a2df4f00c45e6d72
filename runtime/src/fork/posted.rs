//! Posted jobs, which no worker has forked: they come to a pool from elsewhere, for any worker or for each of them.
//!
//! Unlike roots, which are tasks, they are served in the waits of joins and scopes too: two pools whose workers wait
//! for each other make progress, because each serves what the other has posted.
//!
//! # Nothing is forgotten
//!
//! A job for any worker is stealable like an offer, and its poster passes the same handshake: push, fence, look for an
//! idle worker. For a job of a particular worker all are woken, as only the top of the sleepers' stack can be popped; a
//! worker that falls asleep looks for such jobs after its fence. Workers that are busy with tasks look by time, where
//! they look for roots.
//!
//! At the end, workers run what is left before they leave. The poster passes a fence between the push and a look at
//! `closing`; so either it sees that the pool closes, and runs what is left itself, or the worker that leaves sees the job.

use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;

use super::guest::Guest;
use super::job::{Job, JobRef};
use super::spawned::{JobList, Spawned};
use crate::context;
use crate::primitives::{Arc, Ordering, fence, thread};
use crate::sched::{Pool, Worker};
use crate::task::{self, Inherited, drop_quietly};

/// No worker's index: such a job comes from none.
pub(super) const NOWHERE: usize = usize::MAX;

/// Takes the oldest of posted jobs.
fn take(jobs: &JobList) -> Option<JobRef> {
    let Spawned(job) = jobs.pop_front()?;
    // SAFETY: just taken out of the list.
    Some(unsafe { JobRef::new(job, NOWHERE) })
}

/// The jobs that were posted to one pool.
pub(crate) struct Posted {
    for_any: JobList,
    for_one: Box<[JobList]>,
}

impl Posted {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            for_any: JobList::default(),
            for_one: (0..workers).map(|_| JobList::default()).collect(),
        }
    }

    /// Returns true if there is a job for any worker.
    pub(crate) fn is_for_any(&self) -> bool {
        !self.for_any.is_empty()
    }

    /// Returns true if there is a job for this worker in particular.
    pub(crate) fn is_for(&self, worker: usize) -> bool {
        self.for_one.get(worker).is_some_and(|jobs| !jobs.is_empty())
    }
}

impl Worker {
    /// A job that was posted to this worker, or to any.
    pub(crate) fn take_posted(&self) -> Option<JobRef> {
        self.take_posted_here().or_else(|| take(&self.pool.posted.for_any))
    }

    /// A job that was posted to this worker in particular.
    pub(super) fn take_posted_here(&self) -> Option<JobRef> {
        self.pool.posted.for_one.get(self.index()).and_then(take)
    }

    /// A posted job in the middle of tasks. Not in a poll in place, nor for a spare that is there for tasks.
    pub(crate) fn take_posted_in_turn(&self) -> Option<JobRef> {
        if self.is_in_place() || !self.may_compute() {
            return None;
        }
        self.take_posted().and_then(|job| self.keep_unless_reserved(job))
    }

    /// Runs what is left, before the worker leaves. The caller has passed a fence.
    pub(crate) fn run_posted(&self) {
        // A spare that is sent home leaves what is reserved to the workers.
        while !self.leaves_jobs() {
            let Some(job) = self.take_posted().and_then(|job| self.keep_unless_reserved(job))
            else {
                return;
            };
            self.run_job(job);
        }
    }
}

impl Pool {
    /// Has a worker run `f`: the current one, when it comes to it, newest first. If the current thread is none of them, or a
    /// spare, it is the first worker that comes by. No thread waits for it.
    ///
    /// # Safety
    ///
    /// What `f` borrows is there until it has run.
    pub(crate) unsafe fn post<F: FnOnce() + Send>(pool: &Arc<Self>, f: F) {
        let job = Detached::leak(f);
        let own = |worker: &&Worker| worker.works_for(pool) && worker.is_regular();
        context::with_forker(|worker| match worker.filter(own) {
            Some(worker) => worker.push_job(job, true),
            None => Self::post_job(pool, job),
        });
    }

    /// As [`post`](Self::post), of what borrows nothing.
    #[cfg(loom)]
    pub(crate) fn post_static(pool: &Arc<Self>, f: impl FnOnce() + Send + 'static) {
        // SAFETY: nothing is borrowed.
        unsafe { Self::post(pool, f) };
    }

    /// Queues a job for the first worker that comes to it.
    pub(super) fn post_job(pool: &Arc<Self>, job: NonNull<Job>) {
        pool.posted.for_any.push_back(Spawned(job));
        // Passes a fence: partner of those of all workers that fall asleep or leave.
        pool.wake_thief();
        pool.call_loop();
        Self::run_leftovers(pool);
    }

    /// Leaves a job that was taken to the first worker that comes to it.
    pub(super) fn pass_on(pool: &Arc<Self>, job: JobRef) {
        Self::post_job(pool, Passed::leak(job));
    }

    /// As [`post`](Self::post), to each worker one that is made for its index.
    ///
    /// # Safety
    ///
    /// What they borrow is there until they have run.
    pub(crate) unsafe fn post_to_each<F: FnOnce() + Send>(
        pool: &Arc<Self>,
        f: impl Fn(usize) -> F,
    ) {
        for (index, jobs) in pool.posted.for_one.iter().enumerate() {
            jobs.push_back(Spawned(Detached::leak(f(index))));
        }
        // Partner of the fences of all workers that fall asleep or leave.
        fence(Ordering::SeqCst);
        pool.wake_all();
        pool.call_loop();
        Self::run_leftovers(pool);
    }

    /// A manual loop that is not in a join has to be told to look. The caller has passed a fence.
    fn call_loop(&self) {
        if self.poller().is_manual() {
            self.monitor.hurry();
        }
    }

    /// A pool that closes may have no workers any more.
    fn run_leftovers(pool: &Arc<Self>) {
        while pool.is_closing() {
            let all = || pool.posted.for_one.iter().find_map(take);
            let Some(job) = take(&pool.posted.for_any).or_else(all) else { return };
            let guest = loop {
                match Guest::claim_place(pool) {
                    Some(guest) => break guest,
                    None => thread::yield_now(),
                }
            };
            guest.run(|worker| job.run(worker));
        }
    }
}

/// A job that another thread has taken, and does not run itself.
#[repr(C)]
struct Passed {
    job: Job,
    taken: JobRef,
}

impl Passed {
    fn leak(taken: JobRef) -> NonNull<Job> {
        // SAFETY: `repr(C)` with the header first.
        let job = unsafe { Job::new(Self::run) };
        NonNull::from(Box::leak(Box::new(Self { job, taken }))).cast()
    }

    /// # Safety
    ///
    /// As for `JobRef::run`.
    unsafe fn run(job: NonNull<Job>, worker: &Worker, _from: usize) {
        // SAFETY: leaked, and run once.
        let Self { taken, .. } = *unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        taken.run(worker);
    }
}

/// A job that no thread waits for.
#[repr(C)]
struct Detached<F> {
    job: Job,
    inherited: Option<Inherited>,
    f: F,
}

impl<F: FnOnce() + Send> Detached<F> {
    /// Puts a closure onto the heap, to be run once.
    fn leak(f: F) -> NonNull<Job> {
        // SAFETY: `repr(C)` with the header first.
        let job = unsafe { Job::new(Self::run) };
        NonNull::from(Box::leak(Box::new(Self { job, inherited: task::inherited(), f }))).cast()
    }

    /// # Safety
    ///
    /// As for `JobRef::run`.
    unsafe fn run(job: NonNull<Job>, _worker: &Worker, _from: usize) {
        // SAFETY: leaked, and run once.
        let Self { inherited, f, .. } = *unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| task::run_job(inherited, f)))
        {
            drop_quietly(payload);
        }
    }
}
