//! `scope`: any number of jobs that borrow from their surroundings.

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe, Location};
use std::ptr::{self, NonNull};

use super::completion::Completion;
use super::job::{HeapJob, Job};
use super::outside_calls;
use crate::context;
use crate::primitives::{Arc, AtomicUsize, Mutex, Ordering};
use crate::sched::{Pool, Worker};
use crate::task::{self, drop_quietly};

/// Runs a closure that may spawn jobs, and returns when it and all of its jobs have ended. The jobs may borrow whatever
/// outlives the scope, and may spawn more jobs.
///
/// On a worker, the jobs wait in its own list. Idle workers take the oldest from there; the worker itself runs the
/// newest when the closure is done. Other threads take part, or the whole scope moves to a worker, as with
/// [`join`](crate::join). What its documentation says about locks, calls that block and async code holds here too.
///
/// A job costs an allocation; for two closures `join` is cheaper, and for slices there is
/// [`par`](crate::par).
///
/// # Panics
///
/// Panics with the first payload if the closure or a job panics, but not before all have ended. Also panics outside of
/// any runtime if the global one can't be started.
///
/// # Examples
///
/// ```
/// let mut squares = [0; 8];
/// windlass::scope(|s| {
///     for (i, square) in squares.iter_mut().enumerate() {
///         s.spawn(move |_| *square = i * i);
///     }
/// });
/// assert_eq!(squares, [0, 1, 4, 9, 16, 25, 36, 49]);
/// ```
#[track_caller]
pub fn scope<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R + Send,
    R: Send,
{
    let caller = Location::caller();
    context::with_forker(|worker| match worker {
        Some(worker) => Scope::new(Some(worker)).complete(Some(worker), f),
        None => outside_calls::scope(f, caller),
    })
}

/// Like [`scope`], but with a closure that need not be `Send`, because it always runs on the calling thread. If the
/// caller is not a worker, and the runtime has no slot left for it to take part (see [`join`](crate::join)), the jobs
/// are queued for the workers, and the caller blocks until they are done. If the current runtime is a [manual
/// loop](crate::manual), each job runs on the calling thread, when it is spawned.
///
/// # Panics
///
/// Panics where [`scope`] does.
///
/// # Examples
///
/// ```
/// let name = std::rc::Rc::new("not Send");
/// let mut length = 0;
/// windlass::scope_in_place(|s| {
///     let (bytes, length) = (name.len(), &mut length);
///     s.spawn(move |_| *length = bytes);
/// });
/// assert_eq!(length, 8);
/// ```
pub fn scope_in_place<'scope, F, R>(f: F) -> R
where
    F: FnOnce(&Scope<'scope>) -> R,
{
    context::with_forker(|worker| match worker {
        Some(worker) => Scope::new(Some(worker)).complete(Some(worker), f),
        None => outside_calls::scope_in_place(f),
    })
}

/// A scope that jobs are spawned in; see [`scope`].
pub struct Scope<'scope> {
    /// The pool that runs the jobs, in the frame or the worker of the thread that waits for them; null if each job is
    /// run by the thread that spawns it.
    pool: *const Arc<Pool>,
    owner: Owner,
    /// The number of jobs that have not ended, plus one for the closure if its thread blocks for them.
    left: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Jobs are called with the scope, and borrow for `'scope`: neither may be stretched or shrunk.
    #[allow(clippy::type_complexity)]
    jobs: PhantomData<Box<dyn FnOnce(&Scope<'scope>) + Send + Sync + 'scope>>,
}

/// The thread that waits for the jobs of a scope.
#[derive(Clone)]
enum Owner {
    /// A worker or a guest, by its index. It looks at the count of jobs that are left.
    Forker(usize),
    /// A thread that has no part in the pool, and blocks.
    Outsider(Completion),
}

// SAFETY: the pool is there as long as the scope is, and is `Sync`, as is the rest.
unsafe impl Sync for Scope<'_> {}
// SAFETY: as above.
unsafe impl Send for Scope<'_> {}

impl<'scope> Scope<'scope> {
    pub(super) fn new(worker: Option<&Worker>) -> Self {
        Self {
            pool: worker.map_or(ptr::null(), |worker| ptr::from_ref(worker.pool())),
            owner: Owner::Forker(worker.map_or(0, Worker::index)),
            left: AtomicUsize::new(0),
            panic: Mutex::new(None),
            jobs: PhantomData,
        }
    }

    /// Runs the closure on the current thread, which has no part in the pool, and blocks until the workers have run all
    /// jobs.
    pub(super) fn complete_outside<F, R>(pool: &Arc<Pool>, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        let done = Completion::new();
        let scope = Self {
            pool: ptr::from_ref(pool),
            owner: Owner::Outsider(done.clone()),
            // For the closure, because the count must not reach zero between two of its jobs.
            left: AtomicUsize::new(1),
            panic: Mutex::new(None),
            jobs: PhantomData,
        };
        let result = scope.run(f);
        // Release and Acquire pair with those in `job_ended`: what the jobs did is seen here, if they have ended.
        if scope.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            done.wait();
        }
        scope.pass_on(result)
    }

    /// Spawns a job. It is called with the scope, so that it can spawn more.
    ///
    /// A worker of the scope's runtime runs it, or the thread that called [`scope`]. Any thread may spawn. A job from a
    /// thread that has no part in that runtime is queued for its workers.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let count = AtomicUsize::new(0);
    /// windlass::scope(|s| {
    ///     s.spawn(|s| {
    ///         s.spawn(|_| _ = count.fetch_add(1, Ordering::Relaxed));
    ///     });
    /// });
    /// assert_eq!(count.into_inner(), 1);
    /// ```
    pub fn spawn<F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        // SAFETY: null, or in the worker that waits for this scope.
        let Some(pool) = (unsafe { self.pool.as_ref() }) else { return self.call(f) };
        let job = self.new_job(f);
        context::with_forker(|worker| {
            match worker.filter(|worker| Arc::ptr_eq(worker.pool(), pool)) {
                Some(worker) => worker.push_job(job, false),
                None => Pool::post_job(pool, job),
            }
        });
    }

    fn new_job<F>(&self, f: F) -> NonNull<Job>
    where
        F: FnOnce(&Scope<'scope>) + Send + 'scope,
    {
        // Relaxed: the spawner is the scope's closure or one of its jobs, which is counted until
        // after this.
        self.left.fetch_add(1, Ordering::Relaxed);
        let (scope, inherited) = (ptr::from_ref(self), task::inherited());
        HeapJob::leak(move |worker: &Worker| {
            // What was inherited is dropped inside of the call, because that drop may panic as well.
            // SAFETY: the scope waits for this job.
            unsafe { (*scope).call(|scope| task::run_job(inherited, || f(scope))) };
            // SAFETY: as above, and nothing of it is touched afterwards.
            unsafe { Scope::job_ended(scope, worker) };
        })
    }

    /// Runs the closure, waits for all jobs, and passes on the result or the first panic.
    pub(super) fn complete<F, R>(self, worker: Option<&Worker>, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        if let Some(worker) = worker {
            worker.computation.enter_scope();
        }
        let result = self.run(f);
        if let Some(worker) = worker {
            // Acquire pairs with the Release in `job_ended`.
            let done = || self.left.load(Ordering::Acquire) == 0;
            if !done() {
                worker.wait_for(done);
            }
            worker.computation.leave_scope();
            if worker.pending.is_empty() {
                worker.leave_joins();
            }
        }
        self.pass_on(result)
    }

    /// Runs the closure. Keeps the panic if it panics.
    fn run<F, R>(&self, f: F) -> Option<R>
    where
        F: FnOnce(&Scope<'scope>) -> R,
    {
        let result = panic::catch_unwind(AssertUnwindSafe(|| f(self)));
        result.map_err(|payload| self.keep_first(payload)).ok()
    }

    /// Returns the result of the closure, or resumes the first panic. All jobs have ended.
    fn pass_on<R>(self, result: Option<R>) -> R {
        let first = self.panic.lock().take();
        match (result, first) {
            (Some(result), None) => result,
            (result, payload) => {
                drop_quietly(result);
                panic::resume_unwind(payload.expect("a closure without a result has panicked"))
            }
        }
    }

    fn call<F: FnOnce(&Scope<'scope>)>(&self, f: F) {
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| f(self))) {
            self.keep_first(payload);
        }
    }

    fn keep_first(&self, payload: Box<dyn Any + Send>) {
        let mut payload = Some(payload);
        {
            let mut first = self.panic.lock();
            if first.is_none() {
                *first = payload.take();
            }
        }
        drop_quietly(payload);
    }

    /// # Safety
    ///
    /// The scope is there, with the caller's job counted. It may be gone when this returns.
    unsafe fn job_ended(scope: *const Self, worker: &Worker) {
        // SAFETY: the scope waits for the count.
        let owner = unsafe { (*scope).owner.clone() };
        // SAFETY: as above. Release pairs with the Acquire in `complete`, and in the last job of a scope whose owner
        // blocks: that one passes on what it has seen of the others.
        if unsafe { (*scope).left.fetch_sub(1, Ordering::AcqRel) } == 1 {
            match owner {
                Owner::Forker(index) => worker.latch_was_set(index),
                Owner::Outsider(done) => done.set(),
            }
        }
    }
}

windlass_sync::opaque_debug!(['scope] Scope<'scope>);
