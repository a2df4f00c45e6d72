//! Functions that a replacement of rayon's core needs in addition to the public interface. They are not part of that
//! interface, and may change at any time.

use std::io;

pub use super::completion::Completion;
pub use windlass_sync::drop_quietly;

use crate::builder::Builder;
use crate::context;
use crate::global;
use crate::handle::Handle;
use crate::sched::{Pool, Worker};

/// Returns the index of the current worker and the number of workers. Spares have no index, and from now on run no jobs
/// of this runtime: see `fork/reserved.rs`.
#[inline]
pub fn place() -> Option<(usize, usize)> {
    on_worker(|worker| {
        let pool = worker.pool();
        pool.reserve_jobs();
        (worker.index(), pool.config.workers)
    })
}

/// Returns the runtime that the current thread is a worker of, or a spare.
pub fn current_worker() -> Option<Handle> {
    context::with_forker(|worker| {
        let worker = worker.filter(|worker| !worker.is_guest());
        worker.map(|worker| Handle::new(worker.pool().clone()))
    })
}

/// Returns the current runtime, unless that is a manual loop: the current thread may be its only thread, and must not
/// wait for itself.
pub fn current() -> Option<Handle> {
    Handle::try_current().filter(|handle| !handle.pool().poller().is_manual())
}

/// Returns the runtime that serves a thread that is not a worker: the [`current`] one, or else the global one. If the
/// global one is started now, it has this many workers, unless `WINDLASS_WORKERS` is set.
pub fn serving(workers: Option<usize>) -> Handle {
    current().unwrap_or_else(|| {
        let global = workers.map_or_else(global::runtime, global::runtime_with);
        global.handle().clone()
    })
}

/// Returns true for the global runtime.
pub fn is_global(handle: &Handle) -> bool {
    global::is_runtime_of(handle.pool())
}

/// Sets the number of workers, unless `WINDLASS_WORKERS` is set.
pub fn workers_unless_set(builder: Builder, workers: usize) -> Builder {
    global::workers_unless_set(builder, workers)
}

/// Returns the number of workers that a runtime would have.
pub fn workers_of(builder: &Builder) -> io::Result<usize> {
    Ok(builder.clone().check()?.workers)
}

/// Calls `f` with the current worker, if this thread is a worker and not a spare.
#[inline]
fn on_worker<R>(f: impl FnOnce(&Worker) -> R) -> Option<R> {
    context::with_forker(|worker| worker.filter(|worker| worker.is_regular()).map(f))
}

/// Like [`Handle::install`], except that a spare has a worker run `f`.
pub fn install<F, R>(handle: &Handle, f: F) -> R
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    handle.pool().reserve_jobs();
    let here = |worker: &Worker| worker.works_for(handle.pool());
    if on_worker(here) == Some(true) {
        f()
    } else if handle.is_unserved() {
        handle.install_here(f)
    } else {
        handle.install_elsewhere(f)
    }
}

/// Posts a job that nobody waits for: see `Pool::post`.
///
/// # Safety
///
/// What `f` borrows is there until it has run.
pub unsafe fn post<F: FnOnce() + Send>(handle: &Handle, f: F) {
    handle.pool().reserve_jobs();
    // SAFETY: the caller guarantees it.
    unsafe { Pool::post(handle.pool(), f) };
}

/// Posts a job to each worker, made for its index.
///
/// # Safety
///
/// What they borrow is there until they have run.
pub unsafe fn post_to_each<F: FnOnce() + Send>(handle: &Handle, f: impl Fn(usize) -> F) {
    handle.pool().reserve_jobs();
    // SAFETY: the caller guarantees it.
    unsafe { Pool::post_to_each(handle.pool(), f) };
}

/// Runs one job, if there is one; with `local`, one of the worker's own. Returns true if it has run a job, and `None`
/// on threads that are not workers.
pub fn help_one(local: bool) -> Option<bool> {
    on_worker(|worker| worker.help(local))
}

/// Returns true if the current worker has jobs that nobody has begun, and `None` on other threads.
pub fn has_pending() -> Option<bool> {
    on_worker(|worker| worker.pending.has_any())
}

/// Describes a worker's thread that the program has to start.
pub struct ThreadStart {
    /// The worker's index.
    pub index: usize,
    /// The name of the thread.
    pub name: String,
    /// The size of its stack, or `None` for the OS's default.
    pub stack_size: Option<usize>,
    /// What the thread has to run. It returns when the runtime ends.
    pub run: Box<dyn FnOnce() + Send>,
}

/// Has the workers' threads started by `spawn`.
pub fn spawn_threads_with(
    builder: Builder,
    spawn: impl Fn(ThreadStart) -> io::Result<()> + Send + Sync + 'static,
) -> Builder {
    builder.spawn_threads_with(spawn)
}

/// Has each worker that is started begin with one job, and end with another, both called with its index. They may fork.
pub fn first_and_last_jobs(
    builder: Builder,
    first: impl Fn(usize) + Send + Sync + 'static,
    last: impl Fn(usize) + Send + Sync + 'static,
) -> Builder {
    builder.first_and_last_jobs(first, last)
}

/// Has no thread started for worker 0, because the current thread will [become](become_first) it.
pub fn without_first(builder: Builder) -> Builder {
    builder.without_first()
}

/// Makes the current thread worker 0 of a runtime that was built without one, for the rest of the thread's life.
/// Returns false if the thread is already a worker, or the runtime already has a worker 0.
pub fn become_first(handle: &Handle) -> bool {
    if context::with_forker(|worker| worker.is_some()) {
        return false;
    }
    let Some(worker) = Worker::new(handle.pool().clone(), 0) else { return false };
    worker.computation.keep_slices();
    context::stay_forker(Box::leak(Box::new(worker)));
    true
}
