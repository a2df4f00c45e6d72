//! Spawned futures and the handles to them.
//!
//! A task is a future that the runtime polls until it is ready. [`spawn`] returns a [`JoinHandle`] to its
//! output; [`Builder`] names a task; a [`JoinSet`] awaits many. A panic in a task ends only that task, and its handle
//! returns it.

// # Inside
//
// A future, its state and its output lie in one allocation. The handles to it:
//
// - `Runnable`: the right to run a task, one word. At most one exists for a task at any moment: it is created by the
//   transition that sets SCHEDULED on an idle task, lies in a queue, and is consumed by running the task. It holds no
//   reference: the owner's stands until the task is complete, and only the `Runnable` can complete it.
// - `JoinHandle`, `AbortHandle` and wakers: a counted reference each.
// - The owner (`OwnedTasks`, or the blocking pool): one counted reference until COMPLETE, even before the task is in
//   the owner's list. A task that a worker spawns in a poll is listed when its first poll returns `Pending`; most end
//   in that poll and are never listed.
//
// Only the thread that runs a task ever completes it. Aborting and shutting down set a flag and queue the task; the
// worker that takes it drops the future. So a future is polled and dropped on workers only, never under a lock, and no
// other thread can take a `Runnable` away from its holder.
//
// A panic in a poll, in the future's drop, in the output's drop or in a joiner's waker is caught where it happens: the
// first two become the task's `JoinError`, the others are dropped, because no one is left to receive them.
//
// This folder does not depend on the scheduler: it uses one through `Schedule`.

mod abort;
mod abort_on_drop;
mod account;
mod builder;
mod cell;
mod ended;
mod error;
mod frames;
mod header;
mod id;
mod inherit;
mod join;
mod join_set;
mod local;
mod notes;
mod owned;
pub(crate) mod policy;
mod scoped;
mod site;
mod state;
#[cfg(all(test, not(loom)))]
mod tests;
mod tracker;
mod waits;
mod waker;
mod watch_polls;

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::mem;
use std::panic::Location;
use std::ptr::NonNull;

pub use abort::AbortHandle;
pub use abort_on_drop::AbortOnDropHandle;
pub use account::{Account, Cost};
pub use builder::Builder;
pub use error::JoinError;
pub use id::{Id, id, try_id};
pub use inherit::{InheritedKey, InheritedValue};
pub use join::JoinHandle;
pub use join_set::JoinSet;
pub use local::{AccessError, LocalKey, TaskLocalFuture};
pub use scoped::Scoped;
pub use tracker::{TaskTracker, TaskTrackerToken, TaskTrackerWait};

pub use crate::coop::{consume_budget, cooperative, has_budget_remaining, unconstrained};
pub use crate::free::{spawn, spawn_blocking, yield_now};
pub use crate::in_place::block_in_place;
pub use crate::local::{spawn_local, spawn_pinned};

pub(crate) use error::message;
pub(crate) use frames::{Joiner, inherited, run_job};
pub(crate) use header::{Header, Origin};
pub(crate) use notes::{Before, Notes, PollMark, PollTime};
pub(crate) use owned::{OwnedTasks, TaskRef};
pub(crate) use policy::VISITED_TASKS;
pub(crate) use site::SiteId;
pub(crate) use state::Listing;
pub(crate) use waits::{Waits, Woken, WokenBy};
pub(crate) use waker::{note_wait, poll_outside, time_poll, waker_vtable, wakes_polled_task};
pub(crate) use watch_polls::WatchPolls;
pub(crate) use windlass_sync::{drop_quietly, quietly};

/// The task that a thread polls, and its task-local values. Dropping it restores them.
pub(crate) struct Belonging {
    _polled: waker::RestorePolled,
    _values: frames::Restore,
    _metering: account::Metering<'static>,
}

/// Lets this thread run code that belongs to no task, until the result is dropped.
#[inline]
pub(crate) fn set_aside() -> Belonging {
    Belonging {
        _polled: waker::set_aside(),
        _values: frames::set_aside(),
        _metering: account::set_aside(),
    }
}

/// The scheduler and owner of a kind of tasks.
///
/// Each task contains a copy. It is copied out before the task is queued, because from then on another thread may run,
/// complete and free the task.
pub(crate) trait Schedule: Copy + Send + Sync + 'static {
    /// Takes the `Runnable` of a task that was idle.
    fn schedule(self, runnable: Runnable);

    /// Takes the `Runnable` of a task that was notified while it ran; called by its runner.
    fn reschedule(self, runnable: Runnable) {
        self.schedule(runnable);
    }

    /// Adds a task with [`Listing::Late`], whose first poll has returned `Pending`, to the owner's list. Returns false
    /// if the owner refuses further tasks; the task is then cancelled. Called by its runner.
    fn bind(self, _task: NonNull<Header>) -> bool {
        unreachable!("this owner's tasks are bound when they are spawned");
    }

    /// Adds a task with [`Listing::Late`] that has not been polled yet to the owner's list. Returns false if the owner
    /// refuses further tasks; the task is then cancelled when it is run. Called by the holder of its `Runnable`, while
    /// the owner is alive.
    fn list(self, _task: NonNull<Header>) -> bool {
        unreachable!("this owner's tasks are bound when they are spawned");
    }

    /// Adds to the payload of a panic what the scheduler knows about its cause. Called by the task's runner.
    fn explain(self, payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
        payload
    }

    /// Called by a task's runner after a poll that was to be timed, or after every poll while all are.
    fn timed(self, _task: &Header) {}

    /// Removes a task that is complete from the owner's list. Called by its runner, which then drops the owner's
    /// reference.
    fn release(self, task: NonNull<Header>, end: End);
}

/// The way in which a task has ended.
#[derive(Clone, Copy)]
pub(crate) struct End {
    /// True if it is in the owner's list, or was refused there when it was spawned.
    pub(crate) listed: bool,
    pub(crate) panicked: bool,
}

/// The right, and the duty, to run a task that is ready.
pub(crate) struct Runnable(NonNull<Header>);

// SAFETY: the header may be used from any thread; the future inside is `Send`, or is run on the thread it belongs to
// (`spawn`, the manual loop and `local/` ensure that).
unsafe impl Send for Runnable {}

impl Runnable {
    /// # Safety
    ///
    /// The caller has just become the owner of the task's `Runnable`, by a state transition that
    /// says so or by giving up the one it had.
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        Self(header)
    }

    /// Polls the task once, or drops its future if it was cancelled.
    pub(crate) fn run(self) {
        let header = self.into_header();
        // SAFETY: owning the `Runnable` keeps the task alive and entitles us to run it.
        unsafe { (header.as_ref().vtable.run)(header) }
    }

    /// Drops the task's future here and now; its handle reports a cancelled task.
    pub(crate) fn cancel(self) {
        // SAFETY: alive, as in `run`. SCHEDULED is set, so nobody has to queue it.
        let _ = unsafe { self.0.as_ref() }.state.cancel();
        self.run();
    }

    pub(crate) fn header(&self) -> NonNull<Header> {
        self.0
    }

    /// Returns the task's id.
    pub(crate) fn id(&self) -> Id {
        // SAFETY: alive, as in `run`.
        unsafe { self.0.as_ref() }.id
    }

    /// Returns the task's name.
    pub(crate) fn name(&self) -> Option<&str> {
        // SAFETY: alive, as in `run`, for as long as we are borrowed.
        unsafe { Header::name(self.0) }
    }

    /// Returns where the task was spawned.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        // SAFETY: alive, as in `run`.
        unsafe { self.0.as_ref() }.location()
    }

    /// Returns the task's name and spawn site.
    pub(crate) fn origin(&self) -> Origin {
        // SAFETY: alive, as in `run`.
        unsafe { Header::origin(self.0) }
    }

    /// Returns the task's notes, for listings and metrics.
    #[inline]
    pub(crate) fn notes(&self) -> &Notes {
        // SAFETY: alive, as in `run`.
        &unsafe { self.0.as_ref() }.notes
    }

    /// Returns the spawn site and the id of a task that is in no list, so that its runner can say what it runs.
    #[inline]
    pub(crate) fn unlisted(&self) -> Option<(SiteId, Id)> {
        // SAFETY: alive, as in `run`.
        let header = unsafe { self.0.as_ref() };
        header.state.load().is_unlisted().then(|| (header.notes.site(), header.id))
    }

    /// Adds a task that is in no list, and has not been polled yet, to the list of its owner, which is alive. Does
    /// nothing if the list is closed, or has the task.
    pub(crate) fn list(&self, now: u64) {
        if self.unlisted().is_some() {
            // SAFETY: we are the `Runnable` of a task that is not bound.
            let listed = unsafe { (self.0.as_ref().vtable.list)(self.0) };
            if listed {
                self.notes().listed(now);
            }
        }
    }

    /// Returns a bare pointer for queues to store; [`Runnable::new`] is the way back.
    pub(crate) fn into_header(self) -> NonNull<Header> {
        let header = self.0;
        mem::forget(self);
        header
    }
}

impl Drop for Runnable {
    fn drop(&mut self) {
        // A lost `Runnable` is a task that never ends. Queues are drained before they are dropped,
        // so this is a last line of defence.
        debug_assert!(std::thread::panicking(), "a ready task was dropped without being run");
        // SAFETY: a bitwise copy of a `Runnable` that is not used after this.
        unsafe { Runnable::new(self.0) }.cancel();
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Runnable").field(&self.0).finish()
    }
}

/// Evaluates an expression with a future, which is boxed first if it is large.
macro_rules! boxed_if_large {
    ($future:ident => $spawn:expr) => {
        if size_of_val(&$future) > crate::task::policy::LARGE_FUTURE {
            let $future = Box::pin($future);
            $spawn
        } else {
            $spawn
        }
    };
}
pub(crate) use boxed_if_large;

/// Makes a task from a future. The scheduler must give up the owner's reference through `release`, which is called when
/// the `Runnable` is run or cancelled to the end.
pub(crate) fn new_task<F, S>(
    future: F,
    scheduler: S,
    origin: Origin,
    listing: Listing,
) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future,
    S: Schedule,
{
    let Origin { location, name } = origin;
    let id = Id::next();
    let notes = Notes::new(SiteId::of(location, name.as_deref()), listing);
    #[cfg(feature = "tracing")]
    let future = crate::events::in_span(future, id, location, name.as_deref());
    let inherited = inherited();
    let header = if name.is_none() && inherited.is_none() {
        cell::Cell::allocate(future, scheduler, header::Plain, id, notes, listing)
    } else {
        let marks = header::Marked::new(name, inherited);
        cell::Cell::allocate(future, scheduler, marks, id, notes, listing)
    };
    // SAFETY: a new task is SCHEDULED, and this is its one `Runnable`.
    let runnable = unsafe { Runnable::new(header) };
    // SAFETY: a new task has a reference for the handle, and its output is `F::Output`.
    let handle = unsafe { JoinHandle::new(header) };
    (runnable, handle)
}
