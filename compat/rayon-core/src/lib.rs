//! rayon's core on windlass: every `par_iter` of a program runs on the workers of one runtime.
//!
//! With
//!
//! ```toml
//! [patch.crates-io]
//! rayon-core = { git = "https://github.com/windlass-rs/windlass" }
//! ```
//!
//! rayon itself, and all crates that use it, get this package in place of `rayon-core`. It has the same public
//! interface. Underneath, there is no second pool that competes with the runtime for the CPUs: parallel iterators and
//! async tasks share the workers, and tasks keep running while the iterators compute. To await a parallel computation
//! in a task, use `windlass::compute(|| items.par_iter()…).await`.
//!
//! # Which threads
//!
//! - On a worker of a windlass runtime (in a task, in `compute`, in a job), that runtime's workers run the jobs.
//! - On a thread of a [`ThreadPool`], that pool's threads do. Such a pool is a runtime of its own.
//! - Elsewhere, it is the windlass runtime that the thread has entered, or the global one. If this call starts the
//!   global one, it has `RAYON_NUM_THREADS` workers, unless `WINDLASS_WORKERS` is set.
//!   [`ThreadPoolBuilder::build_global`] starts it with other settings.
//!
//! # What differs from rayon's own core
//!
//! - A worker that begins a join or spawns a job may poll tasks of its runtime before it continues. While it waits for
//!   a job that another thread has taken, it runs jobs but polls no tasks. As with rayon's own core, code that the
//!   thread runs meanwhile may want a lock that is held across `join`.
//! - A runtime's spares, which stand in for blocked workers, run no rayon code and have no index. If a task on a spare
//!   calls rayon, the workers run the call. If all workers are blocked in tasks, the call waits.
//! - [`ThreadPoolBuilder::breadth_first`] has no effect.
//! - [`max_num_threads`] is 1,024.
//! - A worker may run tasks between two jobs, so work that is spawned from outside may begin a few microseconds later
//!   than on a pool that has nothing else to do.

mod broadcast;
mod builder;
mod configuration;
mod error;
mod global;
mod join;
mod pool;
mod registry;
mod scope;
mod scope_base;
mod spawn;
mod thread;

pub use broadcast::{BroadcastContext, broadcast, spawn_broadcast};
pub use builder::ThreadPoolBuilder;
#[allow(deprecated)]
pub use configuration::{Configuration, initialize};
pub use error::ThreadPoolBuildError;
pub use join::{FnContext, join, join_context};
pub use pool::{ThreadPool, Yield};
pub use scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo};
pub use spawn::{spawn, spawn_fifo};
pub use thread::ThreadBuilder;

use windlass_runtime::rayon_support as support;

use registry::Registry;

/// Returns the largest number of threads that a pool can have.
pub fn max_num_threads() -> usize {
    registry::MOST_THREADS
}

/// Returns the number of threads of the current pool: the one that the current thread belongs to, or else
/// the global one.
#[inline]
pub fn current_num_threads() -> usize {
    match support::place() {
        Some((_, threads)) => threads,
        None => Registry::current().handle().workers(),
    }
}

/// Returns the index of the current thread in its pool, if it belongs to one. The index does not change while the
/// thread lives, is less than [`current_num_threads`], and is unique in the pool. On a runtime's spare it is `None`,
/// because spares run no jobs.
#[inline]
pub fn current_thread_index() -> Option<usize> {
    support::place().map(|(index, _)| index)
}

/// Returns true if the current thread has jobs that no thread has begun, or `None` if it belongs to no pool.
pub fn current_thread_has_pending_tasks() -> Option<bool> {
    support::has_pending()
}

/// Runs one job of the current thread's pool, if there is one: a job that it has spawned, the second half of a join
/// that it is inside of, or another thread's job. Returns `None` if it belongs to no pool.
pub fn yield_now() -> Option<Yield> {
    support::help_one(false).map(Yield::of)
}

/// Runs a job that the current thread has spawned, the second half of a join that it is inside of, or its part of a
/// broadcast, if any is left. Returns `None` if it belongs to no pool.
pub fn yield_local() -> Option<Yield> {
    support::help_one(true).map(Yield::of)
}
