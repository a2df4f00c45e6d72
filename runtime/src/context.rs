//! Which runtime, and which worker, the current thread belongs to.
//!
//! The worker is a bare pointer in a cell that is never destroyed, so that a waker called from the
//! destructor of a thread-local still finds its way. The runtimes entered by a thread are owned
//! handles: see [`entered`].

use std::cell::Cell;
use std::ptr::{self, NonNull};

use windlass_sync::thread_cell;

use crate::entered::{self, Scope};
use crate::global;
use crate::handle::Handle;
use crate::primitives::Arc;
use crate::primitives::plain::{AtomicUsize, Ordering as Plain};
use crate::sched::{Pool, Worker};
use crate::task::{self, Belonging, JoinHandle, Origin};

pub(crate) use crate::entered::has_entered;

thread_cell!(static WORKER: *const Worker = ptr::null());
// What `join` and `scope` work with here: the worker, or a guest's place in a pool.
thread_cell!(static FORKER: *const Worker = ptr::null());
thread_cell!(static ROLE: Role = Role::Foreign);
// The pool that has started this thread. Compared, never followed.
thread_cell!(static STARTED_BY: *const Pool = ptr::null());
thread_cell!(static NUMBER: usize = 0);
// Of a thread that was started to be a worker, from its start to its end.
thread_cell!(static WORKER_INDEX: Option<usize> = None);

/// A number of the current thread's own, to spread threads by.
pub(crate) fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Plain::Relaxed));
        }
        number.get()
    })
}

/// Returns the index of the worker that the current thread is: below the number of workers, or for a spare from there on
/// up. Returns `None` on other threads.
///
/// It is known from [`on_thread_start`](crate::Builder::on_thread_start) to
/// [`on_thread_stop`](crate::Builder::on_thread_stop). Two threads of a runtime never have the same index at the same
/// time; a spare that comes later may have that of one that left. The thread that drives a
/// [manual loop](crate::manual::Loop) is worker 0 of that loop while it runs a task.
///
/// # Examples
///
/// ```
/// let runtime = windlass::Builder::new().workers(1).build()?;
/// let task = runtime.spawn(async { windlass::worker_index() });
/// assert_eq!(runtime.block_on(task).unwrap(), Some(0));
/// assert_eq!(windlass::worker_index(), None);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn worker_index() -> Option<usize> {
    with_worker(|worker| worker.map(Worker::index)).or_else(|| WORKER_INDEX.with(Cell::get))
}

/// Declares that the current thread is started to be a worker.
pub(crate) fn set_worker_index(index: usize) {
    WORKER_INDEX.with(|cell| cell.set(Some(index)));
}

/// What a thread is to the runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// None of ours.
    Foreign,
    /// Runs tasks.
    Worker,
    /// Waits for the OS; what it wakes goes into the fast lane.
    Poller,
    /// Runs closures that block.
    Blocking,
    /// Runs tasks, and is blocked in one.
    InPlace,
}

/// What the current thread is.
pub(crate) fn role() -> Role {
    ROLE.with(Cell::get)
}

/// Declares what the current thread is, for the rest of its life.
pub(crate) fn set_role(role: Role) {
    ROLE.with(|cell| cell.set(role));
}

/// Declares which pool has started the current thread.
pub(crate) fn set_thread_of(pool: &Arc<Pool>) {
    STARTED_BY.with(|cell| cell.set(Arc::as_ptr(pool)));
}

/// True on a thread that the pool has started, and that it would wait for at its end.
pub(crate) fn is_thread_of(pool: &Arc<Pool>) -> bool {
    STARTED_BY.with(Cell::get) == Arc::as_ptr(pool)
}

/// Puts back what the current thread was.
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

/// Makes `worker` the current one while `f` runs, also on a thread that has entered another runtime.
pub(crate) fn enter_worker<R>(worker: &Worker, f: impl FnOnce() -> R) -> R {
    let _aside = set_aside();
    let _leave = Leave { worker: WORKER.with(|cell| cell.replace(worker)), role: role() };
    set_role(Role::Worker);
    enter_forker(worker, f)
}

/// Makes `guest` what forks and joins on the current thread while `f` runs. The thread stays what it is otherwise.
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

/// Has the current thread be no worker while `f` runs. What was the current runtime still is.
pub(crate) fn step_out<R>(pool: &Arc<Pool>, f: impl FnOnce() -> R) -> R {
    let _entered = (!has_entered()).then(|| Scope::enter(Handle::new(pool.clone())));
    let _back = Leave { worker: WORKER.with(|cell| cell.replace(ptr::null())), role: role() };
    set_role(Role::InPlace);
    f()
}

/// Makes `worker` what forks and joins on the current thread, for the rest of its life.
#[cfg(not(loom))]
pub(crate) fn stay_forker(worker: &'static Worker) {
    FORKER.with(|cell| cell.set(worker));
}

/// Gives `f` the worker of the current thread, or the place that it has as a guest, if any.
#[inline(always)]
pub(crate) fn with_forker<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    let forker = FORKER.with(Cell::get).cast_mut();
    // SAFETY: set by `enter_forker`, which holds a borrow of it for as long as the pointer is there, or by `stay_forker`
    // for ever; and the borrow given here ends before this thread can leave it.
    f(NonNull::new(forker).map(|forker| unsafe { forker.as_ref() }))
}

/// Gives `f` the worker of the current thread, if it is one.
#[inline(always)]
pub(crate) fn with_worker<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    let worker = WORKER.with(Cell::get).cast_mut();
    // SAFETY: set by `enter_worker` only, and put back by `step_out`: the former holds a borrow of the worker for as long as the
    // pointer is there; and the borrow given here ends before this thread can leave it.
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
    with_forker(|worker| worker.map(|worker| f(worker.pool())))
}

/// As [`try_pool`], with the global runtime where there is no other.
pub(crate) fn with_pool<R>(f: impl FnOnce(&Arc<Pool>) -> R) -> R {
    let mut f = Some(f);
    let mut call = |pool: &Arc<Pool>| f.take().map(|f| f(pool));
    match try_pool(&mut call).flatten() {
        Some(result) => result,
        None => call(global::runtime().handle().pool()).expect("not called yet"),
    }
}

/// What a thread has set aside, to run something that is none of its business.
pub(crate) struct Aside {
    _entered: Option<Scope>,
    _belonging: Belonging,
}

/// Has nothing be entered on the current thread, and what it runs belong to no task, until the result is dropped.
pub(crate) fn set_aside() -> Aside {
    Aside { _entered: has_entered().then(Scope::work), _belonging: task::set_aside() }
}

/// Leaves what is entered by a guard that was forgotten, or that is kept for longer than is allowed.
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

/// Spawns on the pool of the current thread, or on that of the global runtime.
pub(crate) fn spawn<F>(future: F, origin: Origin) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    with_pool(|pool| pool.spawn(future, origin))
}
