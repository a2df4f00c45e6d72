//! A foreign runtime that stands beside ours, for crates that can't do without it.
//!
//! Such a runtime wants to be known on each thread that polls futures, and to end with ours. Both are said here once, so
//! that nothing else in this crate knows of any other runtime. A runtime without a companion pays a look at an `Option`
//! for each `block_on` and for each thread.
//!
//! The pool has the companion, and the companion may have a handle to the pool. Shutting down takes it out, which is what
//! ends the circle.

use std::io;
use std::sync::Arc as StdArc;
use std::time::{Duration, Instant};

use crate::builder::Builder;
use crate::handle::Handle;
use crate::sched::Pool;

/// What a thread of the runtime is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadKind {
    /// Runs tasks, and should not block: a worker or a spare.
    Worker,
    /// Runs closures that may block.
    Blocking,
    /// Is in a `block_on`, for as long as that lasts.
    BlockOn,
}

/// Another runtime that stands beside this one. See [`Builder::companion`].
pub trait Companion: Send + Sync + 'static {
    /// Calls `body` once, on the same thread, with the companion at hand. It lasts as long as the thread runs tasks or
    /// closures of the runtime, or as long as its `block_on`.
    fn surround(&self, thread: ThreadKind, body: &mut dyn FnMut());

    /// Calls `body` once, on the same thread, which is a worker, with the companion at hand and ready to be blocked on.
    fn block_in_place(&self, body: &mut dyn FnMut()) {
        body();
    }

    /// Ends the companion, after the threads of the runtime have ended, or have had the time for it. Returns true if it
    /// has ended within `patience`. Called once, on any thread.
    fn shut_down(&self, patience: Duration) -> bool;
}

/// Makes the companion of a runtime that is being built.
pub(crate) type Make = StdArc<dyn Fn(&Handle) -> io::Result<Box<dyn Companion>> + Send + Sync>;

impl Builder {
    /// Sets another runtime beside this one: for a bridge to a foreign world, such as `windlass-tokio`, and hardly for a
    /// program.
    ///
    /// `make` is called by [`build`](Self::build), with a handle to the runtime whose threads have yet to be started. Its
    /// error is that of `build`. A manual loop has no companion, and [`build_manual`](Self::build_manual) refuses one.
    pub fn companion(
        mut self,
        make: impl Fn(&Handle) -> io::Result<Box<dyn Companion>> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.companion = Some(StdArc::new(make));
        self
    }
}

/// Makes the companion that the builder was given.
pub(crate) fn start(handle: &Handle) -> io::Result<()> {
    if let Some(make) = &handle.pool().config.hooks.companion {
        let companion = make(handle)?;
        *handle.pool().companion.lock() = Some(StdArc::from(companion));
    }
    Ok(())
}

/// Runs a thread, or a `block_on`, with the companion at hand.
#[inline]
pub(crate) fn surround<R>(pool: &Pool, thread: ThreadKind, f: impl FnOnce() -> R) -> R {
    call(pool, f, |companion, body| companion.surround(thread, body))
}

/// Runs what may block on a worker.
pub(crate) fn block_in_place<R>(pool: &Pool, f: impl FnOnce() -> R) -> R {
    call(pool, f, |companion, body| companion.block_in_place(body))
}

#[inline]
fn call<R>(
    pool: &Pool,
    f: impl FnOnce() -> R,
    by: impl FnOnce(&dyn Companion, &mut dyn FnMut()),
) -> R {
    if pool.config.hooks.companion.is_none() {
        return f();
    }
    // Without the lock, under which nothing foreign is called.
    let companion = pool.companion.lock().clone();
    let Some(companion) = companion else { return f() };
    let (mut f, mut result) = (Some(f), None);
    by(&*companion, &mut || result = f.take().map(|f| f()));
    result.expect("a companion calls what it surrounds")
}

/// Ends the companion, if there is one that has not ended; true if it has come to its end.
pub(crate) fn end(pool: &Pool, deadline: Option<Instant>) -> bool {
    let companion = pool.companion.lock().take();
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    companion.is_none_or(|companion| companion.shut_down(left.unwrap_or(Duration::MAX)))
}
