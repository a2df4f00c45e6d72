//! A wait of the thread pool for a handle; its callback comes once.
//!
//! When the callback is due, the OS has waited for the handle, which may have taken its signal. So the callback has to
//! run, whether or not its future still exists, and closing waits for it, as [`notice`](super::notice) says.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::ptr;

use windows_sys::Win32::System::Threading::{
    CloseThreadpoolWait, CreateThreadpoolWait, PTP_CALLBACK_INSTANCE, PTP_WAIT, SetThreadpoolWait,
    WaitForThreadpoolWaitCallbacks,
};

use super::notice::{self, Notice};
use super::threadpool::Threadpool;
use crate::poller::source::Source;
use crate::primitives::Arc;

pub(super) struct HandleWait {
    wait: PTP_WAIT,
    // Used by the callback, by pointer.
    _notice: Arc<Notice>,
}

impl HandleWait {
    /// Stands by from now on, for as long as the handle is open. The registration outlives neither the handle nor this
    /// wait.
    pub(super) fn new(
        pool: &Threadpool,
        handle: BorrowedHandle<'_>,
        source: &Arc<Source>,
    ) -> io::Result<Self> {
        let notice = Notice::new(pool, source);
        let environment = pool.of_group();
        // SAFETY: `called` takes the context for what it is, and it lives until no callback can come
        // any more; the environment outlives the call.
        let wait = unsafe { CreateThreadpoolWait(Some(called), notice.context(), &environment) };
        if wait == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the wait is open, and so is the handle until the wait is disarmed.
        unsafe { SetThreadpoolWait(wait, handle.as_raw_handle(), ptr::null()) };
        Ok(Self { wait, _notice: notice })
    }

    /// Makes sure that no callback becomes due from now on. After this, the handle may be closed.
    pub(super) fn disarm(&self) {
        // SAFETY: the wait is open; without a handle it stands by for nothing.
        unsafe { SetThreadpoolWait(self.wait, ptr::null_mut(), ptr::null()) };
    }

    /// If the OS has taken the handle's signal before it was disarmed, the source knows when this returns. It
    /// waits for the callback, which does not begin before the pool has a thread for it.
    pub(super) fn settle(&self) {
        // SAFETY: the wait is open.
        unsafe { WaitForThreadpoolWaitCallbacks(self.wait, 0) };
    }

    /// Ends a wait that was disarmed and settled.
    pub(super) fn close(self) {
        // SAFETY: the wait is open, and nobody else has it any more. No callback of it is left that would
        // look at the notice, which is dropped here.
        unsafe { CloseThreadpoolWait(self.wait) };
    }
}

unsafe extern "system" fn called(
    instance: PTP_CALLBACK_INSTANCE,
    context: *mut c_void,
    _wait: PTP_WAIT,
    _result: u32,
) {
    // SAFETY: the context is the notice of a wait, see `Member::rest` and `Shared::finish_end`.
    unsafe { notice::deliver(instance, context) };
}
