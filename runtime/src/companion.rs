//! Another runtime beside ours, for crates that depend on it.
//!
//! Such a runtime has to be current on each thread that polls futures, and has to end with ours. Both are
//! implemented here, and nothing else in this crate knows of other runtimes. Without a companion, the cost is one check
//! of an `Option` for each `block_on` and each thread.
//!
//! The pool owns the companion, which may hold a handle to the pool. Shutdown takes the companion out and so breaks the
//! cycle.

use std::any::Any;
use std::io;
use std::sync::Arc as StdArc;
use std::time::{Duration, Instant};

use crate::builder::Builder;
use crate::handle::Handle;
use crate::sched::Pool;
use crate::task::{message, quietly};

/// The purpose of one of the runtime's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadKind {
    /// A worker or a spare, which runs tasks and should not block.
    Worker,
    /// A thread for closures that may block, or for pinned tasks.
    Blocking,
    /// Any thread, during a call of `block_on`.
    BlockOn,
}

/// Another runtime beside this one. See [`Builder::companion`].
pub trait Companion: Send + Sync + 'static {
    /// Calls `body` once, on the same thread, with the companion as the current runtime of its kind. `body` lasts as
    /// long as the thread runs tasks or closures of the runtime, or as long as the call of `block_on`.
    fn surround(&self, thread: ThreadKind, body: &mut dyn FnMut());

    /// Calls `body` once, on the same thread, which is a worker. In `body`, blocking on the companion has
    /// to be allowed.
    fn block_in_place(&self, body: &mut dyn FnMut()) {
        body();
    }

    /// Returns advice on a panic with this message, if the companion has any. The advice is added to the message.
    /// Called on a worker, when a task has panicked there.
    fn explain(&self, message: &str) -> Option<String> {
        let _ = message;
        None
    }

    /// Shuts the companion down and returns true if it has ended within `timeout`. Called once, on any thread, after
    /// the threads of the runtime have ended or the shutdown's deadline has passed.
    fn shut_down(&self, timeout: Duration) -> bool;
}

/// Creates the companion of a runtime that is being built.
pub(crate) type Make = StdArc<dyn Fn(&Handle) -> io::Result<Box<dyn Companion>> + Send + Sync>;

impl Builder {
    /// Runs another runtime beside this one. Meant for bridges to other ecosystems, such as `windlass-tokio`, rather
    /// than for programs.
    ///
    /// [`build`](Self::build) calls `make` with a handle to the runtime, before it starts any thread, and
    /// returns its error if there is one. A manual loop can't have a companion:
    /// [`build_manual`](Self::build_manual) returns an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass_runtime::{Builder, Companion, ThreadKind};
    ///
    /// struct Beside;
    ///
    /// impl Companion for Beside {
    ///     fn surround(&self, _thread: ThreadKind, body: &mut dyn FnMut()) {
    ///         // enter the other runtime here
    ///         body();
    ///     }
    ///
    ///     fn shut_down(&self, _timeout: Duration) -> bool {
    ///         true
    ///     }
    /// }
    ///
    /// let runtime = Builder::new().companion(|_handle| Ok(Box::new(Beside))).build()?;
    /// assert_eq!(runtime.block_on(async { 42 }), 42);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn companion(
        mut self,
        make: impl Fn(&Handle) -> io::Result<Box<dyn Companion>> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.companion = Some(StdArc::new(make));
        self
    }
}

/// Creates the companion that was set with the builder, if any.
pub(crate) fn start(handle: &Handle) -> io::Result<()> {
    if let Some(make) = &handle.pool().config.hooks.companion {
        let companion = make(handle)?;
        *handle.pool().companion.lock() = Some(StdArc::from(companion));
    }
    Ok(())
}

/// Runs a thread, or a `block_on`, inside of the companion.
#[inline]
pub(crate) fn surround<R>(pool: &Pool, thread: ThreadKind, f: impl FnOnce() -> R) -> R {
    call(pool, f, |companion, body| companion.surround(thread, body))
}

/// Runs a closure that may block on a worker, inside of the companion.
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
    // Cloned, because no foreign code is called under the lock.
    let companion = pool.companion.lock().clone();
    let Some(companion) = companion else { return f() };
    let (mut f, mut result) = (Some(f), None);
    by(&*companion, &mut || result = f.take().map(|f| f()));
    result.expect("a companion calls what it surrounds")
}

/// Adds to the payload of a panic what the companion knows about it.
pub(crate) fn explain(pool: &Pool, payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    // Cloned, because no foreign code is called under the lock.
    let companion = pool.companion.lock().clone();
    let Some(companion) = companion else { return payload };
    let Some(message) = message(&*payload) else { return payload };
    let mut more = None;
    // Foreign code: if it panics, nothing is added.
    quietly(|| more = companion.explain(message));
    match more {
        Some(more) => Box::new(format!("{message} {more}")),
        None => payload,
    }
}

/// Shuts the companion down, if there is one that has not ended. Returns false if it has not ended in time.
pub(crate) fn end(pool: &Pool, deadline: Option<Instant>) -> bool {
    let companion = pool.companion.lock().take();
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    companion.is_none_or(|companion| companion.shut_down(left.unwrap_or(Duration::MAX)))
}
