//! Wakers: a counted reference to a task behind `std`'s waker interface.
//!
//! Most wakers are created by a future that has to wait and clones the waker of its task. The runner of the task has a
//! stock of references for that: see [`Lending`].

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use windlass_sync::thread_cell;

use super::header::Header;
use super::id::Id;
use super::notes::{Notes, PollMark, PollTime};
use super::state::{LENDABLE, Notify};
use super::waits::Waits;

/// The task that this thread polls (the innermost, if polls are nested), and the number of its references that can be
/// taken without counting.
#[derive(Clone, Copy)]
struct Stock {
    task: *const Header,
    left: usize,
}

thread_cell!(static STOCK: Stock = Stock { task: ptr::null(), left: 0 });
// The notes of the future that a `block_on` outside of any task polls on this thread; null for none.
thread_cell!(static OUTSIDE: *const Notes = ptr::null());

/// A period in which a runner lends references that the task's state word counts in advance.
///
/// Meanwhile, a waker of the task that is cloned on this thread takes its reference from the stock, and one that is
/// dropped returns its reference to it. Otherwise they do not differ: a cloned waker owns its reference.
pub(super) struct Lending {
    around: Stock,
}

impl Lending {
    /// Begins lending, after `start`. The caller must call `end` before it ends the poll.
    #[inline]
    pub(super) fn begin(task: NonNull<Header>) -> Self {
        let stock = Stock { task: task.as_ptr(), left: LENDABLE };
        Self { around: STOCK.with(|cell| cell.replace(stock)) }
    }

    /// Ends lending and returns the number of references that remain, for which the caller has to account.
    #[inline]
    pub(super) fn end(self) -> usize {
        STOCK.with(Cell::get).left
    }
}

impl Drop for Lending {
    #[inline]
    fn drop(&mut self) {
        STOCK.with(|cell| cell.set(self.around));
    }
}

/// Restores the task that this thread polls when it is dropped.
pub(super) struct RestorePolled(Stock);

impl Drop for RestorePolled {
    #[inline]
    fn drop(&mut self) {
        STOCK.with(|cell| cell.set(self.0));
    }
}

/// Hides the task that this thread polls until the result is dropped.
#[inline]
pub(super) fn set_aside() -> RestorePolled {
    RestorePolled(STOCK.with(|cell| cell.replace(Stock { task: ptr::null(), left: 0 })))
}

/// Returns the id of the task that this thread polls (the innermost, if polls are nested).
pub(super) fn polled_id() -> Option<Id> {
    // SAFETY: null, or a task that this thread runs: `Lending` is over before the runner lets go of it.
    unsafe { STOCK.with(Cell::get).task.as_ref() }.map(|task| task.id)
}

/// Has the end of the current poll reported to the task's scheduler.
pub(crate) fn time_poll() {
    let _ = with_polled(|task| task.notes.set_timed());
}

/// Notes what the task that this thread polls, or the future of its `block_on`, waits for.
#[inline]
pub(crate) fn note_wait(waits: Waits) {
    if with_polled(|task| task.notes.set_waits(waits)).is_none() {
        // SAFETY: null, or what `poll_outside` borrows until it has put the pointer back.
        if let Some(notes) = unsafe { OUTSIDE.with(Cell::get).as_ref() } {
            notes.set_waits(waits);
        }
    }
}

/// Polls the future of a `block_on`, at about this time. What it waits for is noted for the task that has called
/// `block_on`, or else in `notes`.
pub(crate) fn poll_outside<R>(notes: &Notes, now: PollTime, poll: impl FnOnce() -> R) -> R {
    struct Restore(*const Notes);
    impl Drop for Restore {
        fn drop(&mut self) {
            OUTSIDE.with(|cell| cell.set(self.0));
        }
    }
    let _restore = Restore(OUTSIDE.with(|cell| cell.replace(notes)));
    if with_polled(|task| task.notes.set_waits(Waits::Unknown)).is_none() {
        let _ = notes.begin_poll(now, PollMark::Plain);
    }
    poll()
}

#[inline]
fn with_polled(f: impl FnOnce(&Header)) -> Option<()> {
    // SAFETY: as in `polled_id`.
    unsafe { STOCK.with(Cell::get).task.as_ref() }.map(f)
}

/// Takes a reference of `task` from the stock. Returns false if there is none.
#[inline]
fn borrow_from_stock(task: NonNull<Header>) -> bool {
    STOCK.with(|cell| {
        let Stock { task: polled, left } = cell.get();
        let there = ptr::eq(polled, task.as_ptr()) && left > 0;
        if there {
            cell.set(Stock { task: polled, left: left - 1 });
        }
        there
    })
}

/// Returns the caller's reference of `task` to the stock. Returns false if this thread does not poll the task.
#[inline]
fn return_to_stock(task: NonNull<Header>) -> bool {
    STOCK.with(|cell| {
        let Stock { task: polled, left } = cell.get();
        let there = ptr::eq(polled, task.as_ptr());
        if there {
            cell.set(Stock { task: polled, left: left + 1 });
        }
        there
    })
}

/// The waker lent to a poll: it costs no reference unless it is cloned.
pub(crate) struct WakerRef<'a> {
    waker: ManuallyDrop<Waker>,
    task: std::marker::PhantomData<&'a Header>,
}

impl<'a> WakerRef<'a> {
    /// Returns a waker for the duration of the borrow.
    pub(crate) fn new(header: &'a NonNull<Header>) -> Self {
        // SAFETY: the vtable below keeps the contract of `RawWaker` for a pointer to a live
        // header. No reference was taken, and none is given up: the waker is never dropped.
        let waker = unsafe { Waker::from_raw(raw(*header)) };
        Self { waker: ManuallyDrop::new(waker), task: std::marker::PhantomData }
    }
}

impl Deref for WakerRef<'_> {
    type Target = Waker;

    fn deref(&self) -> &Waker {
        &self.waker
    }
}

fn raw(header: NonNull<Header>) -> RawWaker {
    RawWaker::new(header.as_ptr().cast::<()>().cast_const(), &VTABLE)
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, drop_waker);

/// Returns the vtable of all wakers of tasks. Dropping a waker never panics: when the last reference is dropped, the
/// future and its output are gone, and a panic in the drop of a joiner's waker is discarded.
pub(crate) fn waker_vtable() -> &'static RawWakerVTable {
    &VTABLE
}

/// Returns true if `waker` wakes the task that this thread polls (the innermost, if polls are nested).
pub(crate) fn wakes_polled_task(waker: &Waker) -> bool {
    ptr::eq(waker.vtable(), &VTABLE)
        && ptr::eq(waker.data(), STOCK.with(Cell::get).task.cast::<()>())
}

/// Returns the header behind a waker's data pointer.
///
/// # Safety
///
/// `data` comes from [`raw`], and the waker it belongs to is still counted or borrowed.
unsafe fn header(data: *const ()) -> NonNull<Header> {
    // SAFETY: `raw` made it from a `NonNull`.
    unsafe { NonNull::new_unchecked(data.cast::<Header>().cast_mut()) }
}

unsafe fn clone(data: *const ()) -> RawWaker {
    // SAFETY: called with the data of a live waker, which keeps the header alive.
    let header = unsafe { header(data) };
    if !borrow_from_stock(header) {
        // SAFETY: as above.
        unsafe { header.as_ref() }.state.retain();
    }
    raw(header)
}

unsafe fn wake(data: *const ()) {
    // SAFETY: called once with the data of a live waker, whose reference is ours now.
    let header = unsafe { header(data) };
    // SAFETY: that reference keeps the header alive up to the transition.
    let (step, vtable) = unsafe {
        let task = header.as_ref();
        let vtable = task.vtable;
        (task.state.notify_and_release(), vtable)
    };
    match step {
        // SAFETY: `Schedule` gives us the task's `Runnable`, which keeps it alive.
        Notify::Schedule => unsafe { (vtable.schedule)(header) },
        Notify::Nothing => {}
        // SAFETY: we gave up the last reference.
        Notify::Free => unsafe { (vtable.free)(header) },
    }
}

unsafe fn wake_by_ref(data: *const ()) {
    // SAFETY: called with the data of a live waker, which keeps the header alive throughout.
    let header = unsafe { header(data) };
    // SAFETY: as above.
    let task = unsafe { header.as_ref() };
    if task.state.notify() == Notify::Schedule {
        // SAFETY: `Schedule` gives us the task's `Runnable`.
        unsafe { (task.vtable.schedule)(header) }
    }
}

unsafe fn drop_waker(data: *const ()) {
    // SAFETY: called once with the data of a live waker, whose reference is ours now.
    let header = unsafe { header(data) };
    if !return_to_stock(header) {
        // SAFETY: that reference is given up here.
        unsafe { release(header) };
    }
}

/// Drops a counted reference, and frees the task if it was the last.
///
/// # Safety
///
/// The caller owns the reference.
pub(super) unsafe fn release(header: NonNull<Header>) {
    // Read first: the release may let another thread free the task.
    // SAFETY: the caller's reference keeps the task alive up to the release.
    let vtable = unsafe { header.as_ref() }.vtable;
    // SAFETY: as above.
    if unsafe { header.as_ref() }.state.release(0) {
        // SAFETY: that was the last reference.
        unsafe { (vtable.free)(header) }
    }
}

/// Cancels a task.
///
/// # Safety
///
/// The caller has a reference, or another proof that the task is alive.
pub(super) unsafe fn abort(header: NonNull<Header>) {
    // SAFETY: alive, says the caller.
    let task = unsafe { header.as_ref() };
    if task.state.cancel() == Notify::Schedule {
        // SAFETY: `Schedule` gives us the `Runnable`.
        unsafe { (task.vtable.schedule)(header) }
    }
}
