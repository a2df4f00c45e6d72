//! Wakers: a counted reference to a task behind `std`'s waker interface.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::{RawWaker, RawWakerVTable, Waker};

use super::header::Header;
use super::state::Notify;

/// The waker lent to a poll: it costs no reference unless it is cloned.
pub(crate) struct WakerRef<'a> {
    waker: ManuallyDrop<Waker>,
    task: std::marker::PhantomData<&'a Header>,
}

impl<'a> WakerRef<'a> {
    /// A waker for the duration of the borrow.
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

/// What all wakers of tasks have in common. Dropping one never panics: by the time the last reference goes, the
/// future and its output are gone, and a joiner's waker is dropped quietly.
pub(crate) fn waker_vtable() -> &'static RawWakerVTable {
    &VTABLE
}

/// The header behind a waker's data pointer.
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
    // SAFETY: as above.
    unsafe { header.as_ref() }.state.retain();
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
    // SAFETY: that reference is given up here.
    unsafe { release(header) };
}

/// Gives up a counted reference, and frees the task if it was the last.
///
/// # Safety
///
/// The caller owns the reference.
pub(super) unsafe fn release(header: NonNull<Header>) {
    // Read first: the release may let another thread free the task.
    // SAFETY: the caller's reference keeps the task alive up to the release.
    let vtable = unsafe { header.as_ref() }.vtable;
    // SAFETY: as above.
    if unsafe { header.as_ref() }.state.release() {
        // SAFETY: that was the last reference.
        unsafe { (vtable.free)(header) }
    }
}

/// Asks for the cancellation of a task.
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
