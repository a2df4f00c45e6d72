//! Fork-join on the workers of a given runtime, called from any thread.

use std::panic::{self, AssertUnwindSafe};
use std::thread;

use super::completion::Completion;
use super::scope::Scope;
use crate::context::{self, Role};
use crate::handle::Handle;
use crate::primitives::{AtomicUsize, Ordering};
use crate::sched::Pool;

impl Handle {
    /// Runs a closure on a worker of this runtime and returns its result. [`join`](crate::join),
    /// [`scope`](crate::scope) and [`par`](crate::par) inside use this runtime's workers.
    ///
    /// On a worker of this runtime, the closure is simply called. A worker of another runtime runs fork-join work of
    /// its own while it waits, so that runtimes may call each other to any depth. Every other thread blocks; in a task,
    /// prefer [`compute`](crate::compute), which can be awaited.
    ///
    /// A worker that waits in a join or a scope may run the closure on top of what it waits for: see
    /// [`join`](crate::join) about locks. If the runtime is shutting down, or is a [manual loop](crate::manual), the
    /// closure runs on the calling thread, together with all that it forks.
    ///
    /// # Panics
    ///
    /// Panics with the closure's payload if the closure panics.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(2).build()?;
    /// let handle = runtime.handle();
    /// let (a, b) = handle.install(|| windlass::join(|| 1 + 1, || 2 + 2));
    /// assert_eq!((a, b), (2, 4));
    /// assert!(handle.install(|| handle.is_current()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn install<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        if self.is_current() {
            f()
        } else if self.is_unserved() {
            self.install_here(f)
        } else {
            self.install_elsewhere(f)
        }
    }

    /// Returns true if no worker would serve the call, so that it must not be waited for.
    pub(super) fn is_unserved(&self) -> bool {
        let pool = self.pool();
        let unserved = pool.poller().is_manual() || pool.is_closing();
        unserved || context::role() == Role::Poller
    }

    /// Calls a closure that no worker serves. The runtime is entered, so that what the closure forks does not go to the
    /// global one, or start it.
    pub(super) fn install_here<R>(&self, f: impl FnOnce() -> R) -> R {
        let _entered = self.enter();
        f()
    }

    /// Posts a closure to the workers, and waits for it.
    pub(super) fn install_elsewhere<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        let done = Completion::new();
        let mut result: Option<thread::Result<R>> = None;
        let place = SendPtr(&raw mut result);
        let job = {
            let done = done.clone();
            move || {
                let outcome = panic::catch_unwind(AssertUnwindSafe(f));
                // SAFETY: the caller keeps the place, and touches it after the completion only.
                unsafe { place.write(outcome) };
                done.set();
            }
        };
        // SAFETY: we wait for the job, which holds the completion on its own.
        unsafe { Pool::post(self.pool(), job) };
        done.wait();
        match result.expect("a job has an outcome") {
            Ok(value) => value,
            Err(payload) => panic::resume_unwind(payload),
        }
    }

    /// Runs [`join`](crate::join) on a worker of this runtime; see [`install`](Self::install).
    ///
    /// # Panics
    ///
    /// Panics where [`join`](crate::join) does.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(2).build()?;
    /// let (a, b) = runtime.handle().join(|| 1 + 1, || 2 + 2);
    /// assert_eq!((a, b), (2, 4));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| crate::join(a, b))
    }

    /// Runs [`scope`](crate::scope) on a worker of this runtime; see [`install`](Self::install).
    ///
    /// # Panics
    ///
    /// Panics where [`scope`](crate::scope) does.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(2).build()?;
    /// let mut halves = [0, 0];
    /// let (first, second) = halves.split_at_mut(1);
    /// runtime.handle().scope(|s| {
    ///     s.spawn(|_| first[0] = 1);
    ///     s.spawn(|_| second[0] = 2);
    /// });
    /// assert_eq!(halves, [1, 2]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn scope<'scope, F, R>(&self, f: F) -> R
    where
        F: FnOnce(&Scope<'scope>) -> R + Send,
        R: Send,
    {
        self.install(|| crate::scope(f))
    }

    /// Calls `f` once on each worker, with the worker's index, and returns the results in the order of the indices. A
    /// worker makes its call between two tasks or jobs, or while it waits in a join. A worker that is in a long poll is
    /// waited for.
    ///
    /// # Panics
    ///
    /// If calls panic, panics with the payload of one of them, after all have returned. In a runtime that is shutting
    /// down, or is a [manual loop](crate::manual), the calls run on any thread.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(3).build()?;
    /// assert_eq!(runtime.handle().broadcast(|index| index * 10), [0, 10, 20]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn broadcast<F, R>(&self, f: F) -> Vec<R>
    where
        F: Fn(usize) -> R + Sync,
        R: Send,
    {
        let workers = self.workers();
        // The poller's thread waits for none, because workers that are stuck rely on it.
        if self.pool().poller().is_manual() || context::role() == Role::Poller {
            return (0..workers).map(f).collect();
        }
        let done = Completion::new();
        let left = AtomicUsize::new(workers);
        let mut results: Vec<Option<thread::Result<R>>> = (0..workers).map(|_| None).collect();
        let (f, left, first) = (&f, SendPtr((&raw const left).cast_mut()), results.as_mut_ptr());
        let call = |index: usize| {
            // SAFETY: there are as many as workers.
            let place = SendPtr(unsafe { first.add(index) });
            let (done, left) = (done.clone(), SendPtr(left.0));
            move || {
                let outcome = panic::catch_unwind(AssertUnwindSafe(|| f(index)));
                // SAFETY: the place is ours, and read after the completion only.
                unsafe { place.write(outcome) };
                // SAFETY: there until the last is counted. Release and Acquire have the last see what all have written.
                if unsafe { left.get().fetch_sub(1, Ordering::AcqRel) } == 1 {
                    done.set();
                }
            }
        };
        // SAFETY: we wait for all of them.
        unsafe { Pool::post_to_each(self.pool(), call) };
        done.wait();
        let outcomes = results.into_iter().map(|outcome| outcome.expect("all have been called"));
        match outcomes.collect::<thread::Result<Vec<R>>>() {
            Ok(values) => values,
            Err(payload) => panic::resume_unwind(payload),
        }
    }

    /// Returns the number of workers, not counting spares.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().workers(3).build()?;
    /// assert_eq!(runtime.handle().workers(), 3);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn workers(&self) -> usize {
        self.pool().config.workers
    }

    /// Returns true on a worker of this runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Runtime::new()?;
    /// let handle = runtime.handle().clone();
    /// assert!(!handle.is_current());
    /// assert!(runtime.handle().install(|| handle.is_current()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn is_current(&self) -> bool {
        context::with_forker(|worker| worker.is_some_and(|worker| worker.works_for(self.pool())))
    }
}

/// A pointer into the frame of a thread that waits.
struct SendPtr<T>(*mut T);

// SAFETY: what it points to is `Send`, and the thread that waits leaves it alone.
unsafe impl<T: Send> Send for SendPtr<T> {}

impl<T> SendPtr<T> {
    /// # Safety
    ///
    /// The place is there.
    unsafe fn get(&self) -> &T {
        // SAFETY: the caller guarantees it.
        unsafe { &*self.0 }
    }
}

impl<R> SendPtr<Option<thread::Result<R>>> {
    /// # Safety
    ///
    /// The place is there, and nobody else touches it.
    unsafe fn write(self, outcome: thread::Result<R>) {
        // SAFETY: the caller guarantees it.
        unsafe { *self.0 = Some(outcome) };
    }
}
