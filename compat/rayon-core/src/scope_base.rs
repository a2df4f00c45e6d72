//! The common part of both kinds of scopes: a count of jobs, and the first panic.

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::registry::Registry;
use crate::support::{self, Completion};

pub(crate) struct ScopeBase<'scope> {
    registry: Registry,
    /// The number of jobs that have not ended, plus one for the closure.
    left: AtomicUsize,
    /// Set by the thread that counts down the last one.
    completion: Completion,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Jobs are called with the scope, and borrow for `'scope`, so that lifetime must be invariant.
    #[allow(clippy::type_complexity)]
    jobs: PhantomData<Box<dyn FnOnce(&ScopeBase<'scope>) + Send + Sync + 'scope>>,
}

impl<'scope> ScopeBase<'scope> {
    pub(crate) fn new(registry: Registry) -> Self {
        Self {
            registry,
            left: AtomicUsize::new(1),
            completion: Completion::new(),
            panic: Mutex::new(None),
            jobs: PhantomData,
        }
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Calls the scope's closure, waits for all jobs, and returns the closure's result or resumes the first panic.
    pub(crate) fn complete<R>(&self, f: impl FnOnce() -> R) -> R {
        let result = self.call(f);
        if !self.count_down() {
            self.completion.wait();
        }
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (result, panic) {
            (Some(result), None) => result,
            (_, payload) => {
                panic::resume_unwind(payload.expect("a closure without a result has panicked"))
            }
        }
    }

    /// Spawns a job, and counts it.
    ///
    /// # Safety
    ///
    /// Everything that `f` borrows must live until the scope has completed.
    pub(crate) unsafe fn spawn<F: FnOnce() + Send>(&self, f: F) {
        // Relaxed: the closure or a job spawns this, and is itself counted until after this.
        self.left.fetch_add(1, Ordering::Relaxed);
        let this = Shared(self);
        // SAFETY: the scope waits for the job, and the caller guarantees the rest.
        unsafe {
            self.registry.post(move || {
                let this = this;
                this.0.run(f);
            });
        }
    }

    /// Spawns a job for each thread.
    ///
    /// # Safety
    ///
    /// The same as for [`spawn`](Self::spawn).
    pub(crate) unsafe fn spawn_on_each<F: FnOnce() + Send>(&self, f: impl Fn(usize) -> F) {
        // Relaxed: as above.
        self.left.fetch_add(self.registry.handle().workers(), Ordering::Relaxed);
        let job = |index| {
            let (this, f) = (Shared(self), f(index));
            move || {
                let this = this;
                this.0.run(f);
            }
        };
        // SAFETY: as above.
        unsafe { support::post_to_each(self.registry.handle(), job) };
    }

    /// Runs a job, and counts it down. The scope may be gone when this returns.
    fn run(&self, f: impl FnOnce()) {
        self.call(f);
        self.count_down();
    }

    fn call<R>(&self, f: impl FnOnce() -> R) -> Option<R> {
        panic::catch_unwind(AssertUnwindSafe(f)).map_err(|payload| self.keep_first(payload)).ok()
    }

    fn keep_first(&self, payload: Box<dyn Any + Send>) {
        let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            *first = Some(payload);
        } else {
            drop(first);
            // Whatever the payload's drop does, the scope has to be counted down.
            support::drop_quietly(payload);
        }
    }

    /// Returns true if this was the last. The scope may be gone when this returns.
    fn count_down(&self) -> bool {
        // Release and Acquire: the thread that counts down the last one sees everything that the others did.
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return false;
        }
        // The scope waits for this. After `set`, nothing of it is touched.
        let completion = self.completion.clone();
        completion.set();
        true
    }
}

/// A reference that may outlive its apparent borrow, because the scope waits for its jobs.
struct Shared<'a, 'scope>(&'a ScopeBase<'scope>);

// SAFETY: the count, the completion and the lock are `Sync`, and the registry is only cloned and called.
unsafe impl Send for Shared<'_, '_> {}
