//! Jobs that no worker has forked: posted to a pool from elsewhere, for any worker or for each of them.
//!
//! Unlike roots, which are tasks, they are served in the waits of joins and scopes too: two pools whose workers wait for each
//! other go on, because each serves what the other has posted.
//!
//! # Nothing is forgotten
//!
//! A job for anybody is stealable like an offer, and its poster passes the same handshake: push, fence, look for who is idle.
//! For a job of a particular worker all are woken, as only the top of the sleepers' stack can be popped; a worker that
//! falls asleep looks for such jobs after its fence. Workers that are busy with tasks look by time, where they look for roots.
//!
//! At the end, workers run what is left before they leave. The poster passes a fence between the push and a look at
//! `closing`; so it sees that the pool closes, and runs what is left itself, or whoever leaves sees the job.

use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::NonNull;

use super::guest::Guest;
use super::job::{Job, JobRef};
use super::spawned::Spawned;
use crate::context;
use crate::primitives::{Arc, AtomicUsize, Mutex, Ordering, fence};
use crate::sched::{Pool, Worker};
use crate::task::drop_quietly;

/// No worker's index: such a job comes from none.
const NOWHERE: usize = usize::MAX;

/// Jobs in the order in which they came.
struct Jobs {
    jobs: Mutex<VecDeque<Spawned>>,
    len: AtomicUsize,
}

impl Jobs {
    fn new() -> Self {
        Self { jobs: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    fn push(&self, job: NonNull<Job>) {
        let mut jobs = self.jobs.lock();
        jobs.push_back(Spawned(job));
        self.len.store(jobs.len(), Ordering::Relaxed);
    }

    fn take(&self) -> Option<JobRef> {
        if self.is_empty() {
            return None;
        }
        let mut jobs = self.jobs.lock();
        let Spawned(job) = jobs.pop_front()?;
        self.len.store(jobs.len(), Ordering::Relaxed);
        // SAFETY: just taken out of the list.
        Some(unsafe { JobRef::new(job, NOWHERE) })
    }

    /// A look that orders nothing.
    fn is_empty(&self) -> bool {
        self.len.load(Ordering::Relaxed) == 0
    }
}

/// What was posted to one pool.
pub(crate) struct Posted {
    for_any: Jobs,
    for_one: Box<[Jobs]>,
}

impl Posted {
    pub(crate) fn new(workers: usize) -> Self {
        Self { for_any: Jobs::new(), for_one: (0..workers).map(|_| Jobs::new()).collect() }
    }

    /// True if there is a job for whoever takes it.
    pub(crate) fn is_for_any(&self) -> bool {
        !self.for_any.is_empty()
    }

    /// True if there is a job for this worker in particular.
    pub(crate) fn is_for(&self, worker: usize) -> bool {
        self.for_one.get(worker).is_some_and(|jobs| !jobs.is_empty())
    }
}

impl Worker {
    /// A job that was posted to this worker, or to any.
    pub(crate) fn take_posted(&self) -> Option<JobRef> {
        let posted = &self.pool.posted;
        let own = posted.for_one.get(self.index()).and_then(Jobs::take);
        own.or_else(|| posted.for_any.take())
    }

    /// A posted job in the middle of tasks. Not in a poll in place, nor for a spare that is there for tasks.
    pub(crate) fn take_posted_in_turn(&self) -> Option<JobRef> {
        if self.is_in_place() || !self.may_compute() { None } else { self.take_posted() }
    }

    /// Runs what is left, before the worker leaves. The caller has passed a fence.
    pub(crate) fn run_posted(&self) {
        while let Some(job) = self.take_posted() {
            self.run_job(job);
        }
    }
}

impl Pool {
    /// Has a worker run `f`: the current one, when it comes to it, newest first; or if this is none of them, whoever comes
    /// first. Nobody waits for it.
    ///
    /// # Safety
    ///
    /// What `f` borrows is there until it has run.
    pub(crate) unsafe fn post<F: FnOnce() + Send>(pool: &Arc<Self>, f: F) {
        let job = Detached::leak(f);
        context::with_forker(|worker| match worker.filter(|worker| worker.works_for(pool)) {
            Some(worker) => worker.push_job(job, true),
            None => Self::post_job(pool, job),
        });
    }

    /// Has whoever comes first run a job.
    pub(super) fn post_job(pool: &Arc<Self>, job: NonNull<Job>) {
        pool.posted.for_any.push(job);
        // Partner of the fences of all who fall asleep, and of the one in `close`.
        fence(Ordering::SeqCst);
        pool.wake_thief();
        Self::run_leftovers(pool);
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
            jobs.push(Detached::leak(f(index)));
        }
        // As in `post`.
        fence(Ordering::SeqCst);
        pool.wake_all();
        Self::run_leftovers(pool);
    }

    /// A pool that closes may have no workers any more.
    fn run_leftovers(pool: &Arc<Self>) {
        while pool.is_closing() {
            let all = || pool.posted.for_one.iter().find_map(Jobs::take);
            let Some(job) = pool.posted.for_any.take().or_else(all) else { return };
            let guest = loop {
                match Guest::claim_place(pool) {
                    Some(guest) => break guest,
                    None => std::thread::yield_now(),
                }
            };
            guest.run(|worker| job.run(worker));
        }
    }
}

/// A job that nobody waits for.
#[repr(C)]
struct Detached<F> {
    job: Job,
    f: F,
}

impl<F: FnOnce() + Send> Detached<F> {
    /// Puts a closure onto the heap, to be run once.
    fn leak(f: F) -> NonNull<Job> {
        // SAFETY: `repr(C)` with the header first.
        let job = unsafe { Job::new(Self::run) };
        NonNull::from(Box::leak(Box::new(Self { job, f }))).cast()
    }

    /// # Safety
    ///
    /// As for `JobRef::run`.
    unsafe fn run(job: NonNull<Job>, _worker: &Worker, _from: usize) {
        // SAFETY: leaked, and run once.
        let Self { f, .. } = *unsafe { Box::from_raw(job.cast::<Self>().as_ptr()) };
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(f)) {
            drop_quietly(payload);
        }
    }
}
