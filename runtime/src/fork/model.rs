//! The door through which the models in `loom-tests` reach fork-join: a worker that only does what the model asks for.

use super::completion::Completion;
use super::compute::root;
use super::guest::Guest;
use super::scope::Scope;
use super::{join, scope};
use crate::context;
use crate::primitives::Arc;
use crate::sched::{Pool, Worker};
use crate::task::{JoinHandle, Origin};

/// A worker on the thread of a model.
pub struct Fork(Worker);

impl Fork {
    pub(crate) fn new(pool: &Arc<Pool>, index: usize) -> Self {
        Self(Worker::new(pool.clone(), index).expect("somebody works there"))
    }

    /// Runs a `join` on this worker.
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA,
        B: FnOnce() -> RB,
    {
        context::enter_worker(&self.0, || join::on_worker(&self.0, a, b))
    }

    /// Runs a `scope` on this worker.
    pub fn scope<'scope, F>(&self, f: F)
    where
        F: FnOnce(&Scope<'scope>) + Send,
    {
        context::enter_worker(&self.0, || scope(f));
    }

    /// Takes an offer, if there is one, and runs it.
    pub fn steal_once(&self) {
        context::enter_worker(&self.0, || {
            if let Some(job) = self.0.steal_job() {
                self.0.run_job(job);
            }
        });
    }

    /// Waits for a job, and runs it. Returns false if there is something else to look for, or no job has come.
    pub fn await_job(&self) -> bool {
        context::enter_worker(&self.0, || {
            let job = self.0.await_job();
            job.map(|job| self.0.run_job(job)).is_some()
        })
    }

    /// Waits for what `begin` has another thread do. At the end, that thread calls the closure that `begin` gets.
    pub fn wait_for(&self, begin: impl FnOnce(Box<dyn FnOnce() + Send>)) {
        context::enter_worker(&self.0, || {
            let done = Completion::new();
            let end = done.clone();
            begin(Box::new(move || end.set()));
            done.wait();
        });
    }

    /// Returns true if a token was left over.
    pub fn has_token(&self) -> bool {
        self.0.parker.take_token()
    }
}

/// Runs a `join` of a thread outside, in a guest's slot. Returns `None` if none is free.
pub(crate) fn join_as_guest<A, B, RA, RB>(pool: &Arc<Pool>, a: A, b: B) -> Option<(RA, RB)>
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB,
{
    let guest = Guest::claim_in(pool)?;
    Some(guest.run(|worker| join::on_worker(worker, a, b)))
}

/// Runs a `scope_in_place` of a thread outside for which there is no guest's slot.
pub(crate) fn scope_outside<'scope>(pool: &Arc<Pool>, f: impl FnOnce(&Scope<'scope>)) {
    Scope::complete_outside(pool, f);
}

/// Makes the computation on the current worker come to a split point at which the clock is read.
pub(crate) fn split_point() {
    context::with_forker(|worker| worker.expect("computations run on workers").split_point());
}

pub(crate) fn compute<F, T>(pool: &Pool, f: F, origin: Origin) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    pool.spawn_root(root(f), origin)
}
