//! The runtime and the worker that the current thread belongs to.
//!
//! The worker is a bare pointer in a cell that is never destroyed, so that a waker works in the destructor of a
//! thread-local too. The runtimes that a thread has entered are owned handles: see [`entered`].

use std::cell::Cell;
use std::ptr::{self, NonNull};

use windlass_sync::thread_cell;

use crate::entered::{self, EnteredScope};
use crate::global;
use crate::handle::Handle;
use crate::primitives::Arc;
use crate::primitives::plain::{AtomicUsize, Ordering as Plain};
use crate::sched::{Pool, Worker};
use crate::task::{self, Belonging};

pub(crate) use crate::entered::has_entered;

thread_cell!(static WORKER: *const Worker = ptr::null());
// What `join` and `scope` use on this thread: the worker, or a guest's slot in a pool.
thread_cell!(static FORKER: *const Worker = ptr::null());
thread_cell!(static ROLE: Role = Role::Outside);
// The pool that has started this thread. Compared, never dereferenced.
thread_cell!(static STARTED_BY: *const Pool = ptr::null());
thread_cell!(static NUMBER: usize = 0);
// Set on threads that were started as workers, from their start to their end.
thread_cell!(static WORKER_INDEX: Option<usize> = None);

/// Returns a number that no other thread has, used to spread threads over shards.
pub(crate) fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Plain::Relaxed));
        }
        number.get()
    })
}

/// Returns the index of the current worker, or `None` on threads that are not workers. Workers are numbered from 0 to
/// [`Handle::workers`] minus one.
///
/// The index is set from [`on_thread_start`](crate::Builder::on_thread_start) to
/// [`on_thread_stop`](crate::Builder::on_thread_stop). No two threads of a runtime have the same index at the same
/// time. A spare, which runs the tasks behind a worker that is stuck, has none. The thread that drives a
/// [manual loop](crate::manual::Loop) is worker 0 of that loop while it runs a task.
///
/// # Examples
///
/// ```
/// let runtime = windlass::Builder::new().workers(1).build()?;
/// assert_eq!(runtime.handle().broadcast(|_| windlass::worker_index()), [Some(0)]);
/// assert_eq!(windlass::worker_index(), None);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn worker_index() -> Option<usize> {
    with_worker(|worker| worker.map(|worker| worker.is_regular().then(|| worker.index())))
        .unwrap_or_else(|| WORKER_INDEX.with(Cell::get))
}

/// Declares that the current thread was started as a worker.
pub(crate) fn set_worker_index(index: usize) {
    WORKER_INDEX.with(|cell| cell.set(Some(index)));
}

/// The role of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Not one of ours.
    Outside,
    /// Runs tasks.
    Worker,
    /// Delivers events and expired timers; tasks that it wakes go into the lane.
    Poller,
    /// Runs closures that block.
    Blocking,
    /// A worker inside of `block_in_place`.
    InPlace,
}

/// Returns the role of the current thread.
pub(crate) fn role() -> Role {
    ROLE.with(Cell::get)
}

/// Sets the role of the current thread.
pub(crate) fn set_role(role: Role) {
    ROLE.with(|cell| cell.set(role));
}

/// Declares which pool has started the current thread.
pub(crate) fn set_thread_of(pool: &Arc<Pool>) {
    STARTED_BY.with(|cell| cell.set(Arc::as_ptr(pool)));
}

/// What a thread was started for before it worked for a pool. Dropping it restores that.
pub(crate) struct Before {
    started_by: *const Pool,
    worker_index: Option<usize>,
}

impl Before {
    /// Returns the state of the current thread, which continues after the pool has ended.
    pub(crate) fn here() -> Self {
        let started_by = STARTED_BY.with(Cell::get);
        Self { started_by, worker_index: WORKER_INDEX.with(Cell::get) }
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        STARTED_BY.with(|cell| cell.set(self.started_by));
        WORKER_INDEX.with(|cell| cell.set(self.worker_index));
    }
}

/// Returns true on a thread that the pool has started, and so waits for at shutdown.
pub(crate) fn is_thread_of(pool: &Arc<Pool>) -> bool {
    STARTED_BY.with(Cell::get) == Arc::as_ptr(pool)
}

/// Restores the worker and the role of the current thread.
struct Leave {
    worker: *const Worker,
    role: Role,
}

impl Drop for Leave {
    fn drop(&mut self) {
        WORKER.with(|cell| cell.set(self.worker));
        set_role(self.role);
    }
}

/// Makes `worker` the current one while `f` runs, even if the thread has entered another runtime.
pub(crate) fn enter_worker<R>(worker: &Worker, f: impl FnOnce() -> R) -> R {
    let _aside = set_aside();
    let _leave = Leave { worker: WORKER.with(|cell| cell.replace(worker)), role: role() };
    set_role(Role::Worker);
    enter_forker(worker, f)
}

/// Makes `join` and `scope` use `guest` on the current thread while `f` runs. Nothing else changes.
pub(crate) fn enter_forker<R>(guest: &Worker, f: impl FnOnce() -> R) -> R {
    struct Leave(*const Worker);
    impl Drop for Leave {
        fn drop(&mut self) {
            FORKER.with(|cell| cell.set(self.0));
        }
    }
    let _leave = Leave(FORKER.with(|cell| cell.replace(guest)));
    f()
}

/// Runs `f` as if the current thread were not a worker. The current runtime stays the same.
pub(crate) fn step_out<R>(pool: &Arc<Pool>, f: impl FnOnce() -> R) -> R {
    let _entered = (!has_entered()).then(|| EnteredScope::enter(Handle::new(pool.clone())));
    let _back = Leave { worker: WORKER.with(|cell| cell.replace(ptr::null())), role: role() };
    set_role(Role::InPlace);
    f()
}

/// Makes `join` and `scope` use `worker` on the current thread from now on. The current runtime stays the same.
#[cfg(not(loom))]
pub(crate) fn stay_forker(worker: &'static Worker) {
    FORKER.with(|cell| cell.set(worker));
}

/// Calls `f` with the worker of the current thread, or with its slot as a guest, if any.
#[inline(always)]
pub(crate) fn with_forker<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    let forker = FORKER.with(Cell::get).cast_mut();
    // SAFETY: the pointer is set by `enter_forker`, which holds a borrow of the worker for as long as the pointer is
    // there, or by `stay_forker`, whose borrow is `'static`. The borrow passed to `f` ends before this thread can leave
    // `enter_forker`.
    f(NonNull::new(forker).map(|forker| unsafe { forker.as_ref() }))
}

/// Calls `f` with the worker of the current thread, if it is one.
#[inline(always)]
pub(crate) fn with_worker<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    let worker = WORKER.with(Cell::get).cast_mut();
    // SAFETY: the pointer is set only by `enter_worker`, and put back by `step_out`. `enter_worker` holds a borrow of
    // the worker for as long as the pointer is there, and the borrow passed to `f` ends before this thread can leave
    // `enter_worker`.
    f(NonNull::new(worker).map(|worker| unsafe { worker.as_ref() }))
}

/// Calls `f` with the worker of the current thread if it is one of `pool`'s.
///
/// The pool is a pointer that is compared and never followed, so it may be one that the caller must not dereference.
#[inline(always)]
pub(crate) fn worker_of<R>(pool: *const Pool, f: impl FnOnce(Option<&Worker>) -> R) -> R {
    with_worker(|worker| f(worker.filter(|worker| Arc::as_ptr(worker.pool()) == pool)))
}

/// Calls `f` with the pool of the current thread: that of the runtime it has entered last, or else of the one it works
/// for.
pub(crate) fn try_pool<R>(f: impl FnOnce(&Arc<Pool>) -> R) -> Option<R> {
    if has_entered() {
        if let Some(handle) = entered::last() {
            return Some(f(handle.pool()));
        }
    }
    with_forker(|forker| {
        with_worker(|worker| {
            let is_worker = |forker: &Worker| worker.is_some_and(|worker| ptr::eq(worker, forker));
            // A thread that `stay_forker` has made a worker for fork-join alone works for no runtime. One that is in
            // `block_in_place` still works for its own.
            let is_in_place = worker.is_none() && role() == Role::InPlace;
            let serves = |forker: &&Worker| forker.is_guest() || is_worker(forker) || is_in_place;
            forker.filter(serves).or(worker).map(|works_for| f(works_for.pool()))
        })
    })
}

/// Calls `f` with the pool of the current thread as [`try_pool`] does, or else with that of the global runtime.
pub(crate) fn with_pool<R>(f: impl FnOnce(&Arc<Pool>) -> R) -> R {
    let mut f = Some(f);
    let mut call = |pool: &Arc<Pool>| f.take().map(|f| f(pool));
    match try_pool(&mut call).flatten() {
        Some(result) => result,
        None => call(global::runtime().handle().pool()).expect("not called yet"),
    }
}

/// The state of a thread that is set aside while it runs unrelated code. Dropping it restores that state.
pub(crate) struct Aside {
    _entered: Option<EnteredScope>,
    _belonging: Belonging,
}

/// Sets aside the runtimes that the current thread has entered and the task that it polls, until the result is dropped.
pub(crate) fn set_aside() -> Aside {
    Aside { _entered: has_entered().then(EnteredScope::work), _belonging: task::set_aside() }
}

/// Leaves the runtimes whose guards were forgotten or are kept for too long.
#[inline]
pub(crate) fn leave_forgotten() {
    #[cold]
    #[inline(never)]
    fn leave() {
        entered::leave_all();
    }
    if has_entered() {
        leave();
    }
}
