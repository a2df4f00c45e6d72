//! Posted jobs, which no worker has forked: they come to a pool from elsewhere, for any worker or for each of them.
//!
//! Unlike roots, which are tasks, they are served in the waits of joins and scopes too: two pools whose workers wait
//! for each other make progress, because each serves what the other has posted.
//!
//! # Nothing is forgotten
//!
//! A job for any worker is stealable like an offer, and its poster passes the same handshake: push, fence, look for an
//! idle worker. A searcher that finds something else, and a worker that runs one posted job while others wait, wake the
//! next worker. If all workers are stuck, the monitor sends a spare, as for a root. For a job of a particular worker
//! all are woken, because only the top of the sleepers' stack can be popped; a worker that falls asleep looks for such
//! jobs after its fence. Workers that are busy with tasks look from time to time, where they look for roots.
//!
//! At the end, workers run what is left before they leave. The poster passes a fence between the push and
//! a look at `closing`; so either it sees that the pool closes, and runs what is left itself, or the
//! worker that leaves sees the job. What such a job posts in its turn its thread runs at once, because the job may wait
//! for it by means of its own, such as a channel. From some level of the stack on it joins the jobs that the thread has
//! spawned, and is run after the job: one level for each would be too many.

use std::ptr::NonNull;

use super::guest::Guest;
use super::job::{HeapJob, Job, JobRef};
use super::policy::LEFTOVER_LEVELS;
use super::spawned::{JobList, Spawned};
use crate::context;
use crate::primitives::{Arc, Ordering, fence, thread};
use crate::sched::{Pool, Worker};
use crate::task::{self, quietly};

/// Stands for the index of a worker, in a job that comes from none.
pub(super) const NO_WORKER: usize = usize::MAX;

/// Takes the oldest posted job.
fn take(jobs: &JobList) -> Option<JobRef> {
    let Spawned(job) = jobs.pop_front()?;
    // SAFETY: just taken out of the list.
    Some(unsafe { JobRef::new(job, NO_WORKER) })
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
    /// Returns the job that was just taken, or `None` if jobs were reserved meanwhile, and it was posted to the
    /// workers.
    pub(super) fn keep_unless_reserved(&self, job: JobRef) -> Option<JobRef> {
        if self.leaves_jobs() {
            Pool::pass_on(&self.pool, job);
            return None;
        }
        Some(job)
    }

    /// Takes a job that was posted to this worker, or to any.
    pub(crate) fn take_posted(&self) -> Option<JobRef> {
        self.take_posted_here().or_else(|| take(&self.pool.posted.for_any))
    }

    /// Takes a job that was posted to this worker in particular.
    pub(super) fn take_posted_here(&self) -> Option<JobRef> {
        self.pool.posted.for_one.get(self.index()).and_then(take)
    }

    /// Takes a posted job between two tasks. Takes none in a poll in place, or on a spare that is there for tasks.
    pub(crate) fn take_posted_in_turn(&self) -> Option<JobRef> {
        if self.is_in_place() || !self.may_compute() {
            return None;
        }
        self.take_posted().and_then(|job| self.keep_unless_reserved(job))
    }

    /// Runs what is left, before the worker leaves. The caller has passed a fence.
    pub(crate) fn run_posted(&self) {
        // A spare that is dismissed leaves reserved jobs to the workers.
        while !self.leaves_jobs() {
            let Some(job) = self.take_posted().and_then(|job| self.keep_unless_reserved(job))
            else {
                return;
            };
            self.run_job(job);
        }
    }

    /// Runs a job in a pool that closes, and what the job has spawned, because nobody else may ever come for that.
    fn run_leftover(&self, job: JobRef) {
        let _aside = context::set_aside();
        let outer = self.in_leftover.get();
        self.in_leftover.set(outer + 1);
        job.run(self);
        self.run_spawned();
        self.in_leftover.set(outer);
    }
}

impl Pool {
    /// Has a worker run `f`: the current one, when it comes to it, newest first. If the current thread is not a worker,
    /// or is a spare, the first worker that comes by runs it. No thread waits for it.
    ///
    /// # Safety
    ///
    /// What `f` borrows is there until it has run.
    pub(crate) unsafe fn post<F: FnOnce() + Send>(pool: &Arc<Self>, f: F) {
        let job = detached(f);
        let own = |worker: &&Worker| worker.works_for(pool) && worker.is_regular();
        context::with_forker(|worker| match worker.filter(own) {
            Some(worker) => worker.push_job(job, true),
            None => Self::post_job(pool, job),
        });
    }

    /// Like [`post`](Self::post), but for a closure that borrows nothing.
    #[cfg(any(loom, test))]
    pub(crate) fn post_static(pool: &Arc<Self>, f: impl FnOnce() + Send + 'static) {
        // SAFETY: nothing is borrowed.
        unsafe { Self::post(pool, f) };
    }

    /// Queues a job for the first worker that comes to it.
    pub(super) fn post_job(pool: &Arc<Self>, job: NonNull<Job>) {
        if Self::is_kept(pool, job) {
            return;
        }
        pool.posted.for_any.push_back(Spawned(job));
        // Passes a fence: partner of those of all workers that fall asleep or leave.
        pool.wake_thief();
        pool.hurry_if_busy();
        pool.wake_loop();
        Self::run_leftovers(pool);
    }

    /// Leaves a job that was taken to the first worker that comes to it.
    pub(super) fn pass_on(pool: &Arc<Self>, job: JobRef) {
        Self::post_job(pool, HeapJob::leak(move |worker| job.run(worker)));
    }

    /// Like [`post`](Self::post), but posts to each worker a job that is made for its index.
    ///
    /// # Safety
    ///
    /// What they borrow is there until they have run.
    pub(crate) unsafe fn post_to_each<F: FnOnce() + Send>(
        pool: &Arc<Self>,
        f: impl Fn(usize) -> F,
    ) {
        let mut is_posted = false;
        for (index, jobs) in pool.posted.for_one.iter().enumerate() {
            let job = detached(f(index));
            if !Self::is_kept(pool, job) {
                jobs.push_back(Spawned(job));
                is_posted = true;
            }
        }
        if !is_posted {
            return;
        }
        // Partner of the fences of all workers that fall asleep or leave.
        fence(Ordering::SeqCst);
        pool.wake_all();
        pool.wake_loop();
        Self::run_leftovers(pool);
    }

    /// Has a manual loop look at what was posted. The caller has passed a fence.
    fn wake_loop(&self) {
        if self.poller().is_manual() {
            self.monitor.hurry();
        }
    }

    /// Has the current thread run the job at once, or later if it is in many already, if it is in one that it runs in
    /// the place of the pool. Returns false otherwise. Should the thread wait for a job that is run later, it finds it
    /// among those that it has spawned. It does not take what other threads have posted: these may wait for what it does
    /// now.
    fn is_kept(pool: &Arc<Self>, job: NonNull<Job>) -> bool {
        context::with_forker(|forker| {
            let keeps = |worker: &&Worker| Arc::ptr_eq(worker.pool(), pool);
            let Some(worker) = forker.filter(keeps) else { return false };
            let levels = worker.in_leftover.get();
            if levels >= LEFTOVER_LEVELS {
                worker.push_job(job, true);
            } else if levels > 0 {
                // SAFETY: nobody else has the job.
                worker.run_leftover(unsafe { JobRef::new(job, NO_WORKER) });
            }
            levels > 0
        })
    }

    /// Runs what is left in a pool that closes, and may have no workers any more.
    fn run_leftovers(pool: &Arc<Self>) {
        while pool.is_closing() {
            let all = || pool.posted.for_one.iter().find_map(take);
            let Some(job) = take(&pool.posted.for_any).or_else(all) else { return };
            // This thread may be in a slot of the pool already, and all other slots may be taken by threads that look
            // for one too.
            let is_there = |worker: &Worker| Arc::ptr_eq(worker.pool(), pool);
            context::with_forker(|forker| match forker.filter(|worker| is_there(worker)) {
                Some(worker) => worker.run_leftover(job),
                None => Self::claim_some_slot(pool).run(|worker| worker.run_leftover(job)),
            });
        }
    }

    fn claim_some_slot(pool: &Arc<Self>) -> Guest {
        loop {
            match Guest::claim_slot(pool) {
                Some(guest) => return guest,
                None => thread::yield_now(),
            }
        }
    }
}

/// Makes a job from a closure that no thread waits for.
fn detached(f: impl FnOnce() + Send) -> NonNull<Job> {
    let inherited = task::inherited();
    HeapJob::leak(move |_| quietly(|| task::run_job(inherited, f)))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::super::scope::Scope;
    use super::*;
    use crate::handle::Handle;
    use crate::primitives::plain::{AtomicUsize, Ordering as Plain};
    use crate::shutdown;

    /// A spare had handed over what it had, was told to leave, ran a posted job before that, and left with the tasks
    /// that the job had spawned: no worker was woken for them.
    #[test]
    fn a_spare_that_leaves_hands_over_what_a_posted_job_has_spawned() {
        let pool = Pool::for_tests_with(1, |config| config.spares = 1);
        Pool::post_static(&pool, || drop(crate::spawn(async {})));
        // No worker has sent for it, so it has to leave at once.
        Worker::new(pool.clone(), 1).unwrap().run();
        assert!(!pool.posted.is_for_any(), "it has run the job");
        assert!(pool.has_shared_work() && !pool.has_kept_work());

        shutdown::begin(&pool);
        Worker::new(pool.clone(), 0).unwrap().run();
        assert!(pool.is_over());
    }

    /// Runs `f` with a pool that is shut down, on a thread of its own, and fails if that does not come to an end.
    fn with_closed_pool(f: impl FnOnce(&Arc<Pool>) + Send + 'static) {
        let (done, is_done) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let pool = Pool::for_tests(1);
            f(&pool);
            shutdown::begin(&pool);
            Worker::new(pool.clone(), 0).unwrap().run();
            done.send(pool.is_over()).unwrap();
        });
        assert_eq!(is_done.recv_timeout(Duration::from_secs(60)), Ok(true));
        thread.join().unwrap();
    }

    /// What the jobs had spawned stayed in the slot that the thread had left.
    #[test]
    fn a_thread_that_runs_its_own_jobs_at_the_end_runs_what_they_have_spawned() {
        with_closed_pool(|pool| {
            shutdown::begin(pool);
            let count = AtomicUsize::new(0);
            Scope::complete_outside(pool, |s| {
                s.spawn(|s| {
                    s.spawn(|s| s.spawn(|_| _ = count.fetch_add(1, Plain::Relaxed)));
                    s.spawn(|_| _ = count.fetch_add(1, Plain::Relaxed));
                });
            });
            assert_eq!(count.into_inner(), 2);
        });
    }

    /// Each ran on top of the one that had posted it, and the stack overflowed.
    #[test]
    fn jobs_that_post_each_other_at_the_end_fit_a_stack() {
        const CHAIN: usize = 100_000;
        fn post(pool: &Arc<Pool>, to_each: bool, left: usize, ran: Arc<AtomicUsize>) {
            let inner = pool.clone();
            let job = move || {
                ran.fetch_add(1, Plain::Relaxed);
                if left > 1 {
                    post(&inner, to_each, left - 1, ran);
                }
            };
            if to_each {
                // SAFETY: nothing is borrowed.
                unsafe { Pool::post_to_each(pool, |_| job.clone()) };
            } else {
                Pool::post_static(pool, job);
            }
        }
        for (to_each, in_slot) in [(false, false), (false, true), (true, false), (true, true)] {
            with_closed_pool(move |pool| {
                let guest = in_slot.then(|| Guest::claim_in(pool).expect("there is one slot"));
                shutdown::begin(pool);
                let ran = Arc::new(AtomicUsize::new(0));
                match guest {
                    Some(guest) => guest.run(|_| post(pool, to_each, CHAIN, ran.clone())),
                    None => post(pool, to_each, CHAIN, ran.clone()),
                }
                assert_eq!(ran.load(Plain::Relaxed), CHAIN);
            });
        }
    }

    /// It was to run after the one that had posted it, which waited for it.
    #[test]
    fn a_job_at_the_end_may_wait_for_what_it_has_posted_on_a_channel() {
        with_closed_pool(|pool| {
            shutdown::begin(pool);
            let inner = pool.clone();
            let (done, is_done) = mpsc::channel();
            let (answered, answer) = mpsc::channel();
            Pool::post_static(pool, move || {
                Pool::post_static(&inner, move || done.send(7).unwrap());
                answered.send(is_done.recv_timeout(Duration::from_secs(5))).unwrap();
            });
            assert_eq!(answer.recv(), Ok(Ok(7)));
        });
    }

    /// A job whose thread waits for what it has posted to the workers.
    #[test]
    fn a_job_at_the_end_may_wait_for_what_it_has_posted() {
        with_closed_pool(|pool| {
            shutdown::begin(pool);
            let (handle, result) = (Handle::new(pool.clone()), Arc::new(AtomicUsize::new(0)));
            let (inner, sum) = (handle.clone(), result.clone());
            handle.broadcast(move |_| {
                let indices = inner.broadcast(|index| inner.broadcast(|_| index + 7)[0]);
                sum.store(indices[0], Plain::Relaxed);
            });
            assert_eq!(result.load(Plain::Relaxed), 7);
        });
    }

    /// It looked for another slot, of which there was none left.
    #[test]
    fn a_guest_runs_its_own_jobs_at_the_end_where_it_is() {
        with_closed_pool(|pool| {
            let guest = Guest::claim_in(pool).expect("there is one slot");
            let ran = Arc::new(AtomicUsize::new(0));
            let runs = ran.clone();
            guest.run(|_| {
                shutdown::begin(pool);
                Pool::post_static(pool, move || _ = runs.fetch_add(1, Plain::Relaxed));
            });
            assert_eq!(ran.load(Plain::Relaxed), 1);
        });
    }
}
