//! A wait of the thread pool for a handle, and the callback, which comes once.
//!
//! # Closing beside a callback
//!
//! The OS has waited for the handle when the callback is due, and that may have taken its signal. So the
//! callback has to run, whether somebody still wants to know or not, and closing waits for it: for some
//! instructions, up to the moment it has collected the wakers. There it takes leave of the wait
//! (`DisassociateCurrentThreadFromCallback`), and wakes after that. So closing never waits for user code,
//! and never for itself if it is a waker of the very callback that drops the registration.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::ptr;

use windows_sys::Win32::System::Threading::{
    CloseThreadpoolWait, CreateThreadpoolWait, DisassociateCurrentThreadFromCallback,
    PTP_CALLBACK_INSTANCE, PTP_POOL, PTP_WAIT, SetThreadpoolWait, WaitForThreadpoolWaitCallbacks,
};

use super::threadpool::{self, Threadpool};
use crate::poller::source::{Readiness, Source};
use crate::poller::wake_all;
use crate::primitives::Arc;

pub(super) struct HandleWait {
    wait: PTP_WAIT,
    // Used by the callback, by pointer.
    _inner: Arc<Inner>,
}

struct Inner {
    source: Arc<Source>,
    pool: PTP_POOL,
}

impl HandleWait {
    /// Stands by from now on, for as long as the handle is open: the registration outlives neither it
    /// nor this.
    pub(super) fn new(
        pool: &Threadpool,
        handle: BorrowedHandle<'_>,
        source: &Arc<Source>,
    ) -> io::Result<Self> {
        let inner = Arc::new(Inner { source: source.clone(), pool: pool.id() });
        let (context, environment) = (Arc::as_ptr(&inner).cast_mut().cast(), pool.of_group());
        // SAFETY: `called` takes the context for what it is, and it lives until no callback can come
        // any more; the environment outlives the call.
        let wait = unsafe { CreateThreadpoolWait(Some(called), context, &environment) };
        if wait == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the wait is open, and so is the handle until the wait is disarmed.
        unsafe { SetThreadpoolWait(wait, handle.as_raw_handle(), ptr::null()) };
        Ok(Self { wait, _inner: inner })
    }

    /// No callback becomes due from now on, and the handle may be closed.
    pub(super) fn disarm(&self) {
        // SAFETY: the wait is open; without a handle it stands by for nothing.
        unsafe { SetThreadpoolWait(self.wait, ptr::null_mut(), ptr::null()) };
    }

    /// Ends it. If the OS has taken the handle's signal by now, the source knows when this returns.
    pub(super) fn close(self) {
        self.disarm();
        // SAFETY: the wait is open, and nobody else has it any more. After the first call no callback
        // of it is left that would look at `inner`, which is dropped here.
        unsafe {
            WaitForThreadpoolWaitCallbacks(self.wait, 0);
            CloseThreadpoolWait(self.wait);
        }
    }
}

unsafe extern "system" fn called(
    instance: PTP_CALLBACK_INSTANCE,
    context: *mut c_void,
    _wait: PTP_WAIT,
    _result: u32,
) {
    // SAFETY: it lives at least until this callback has taken leave, see `HandleWait::close`.
    let inner = unsafe { &*context.cast::<Inner>() };
    threadpool::enter(inner.pool);
    let mut wake = Vec::new();
    inner.source.event(Readiness { read: true, ..Readiness::default() }, &mut wake);
    // SAFETY: the instance is this call's. `inner` is not used any more.
    unsafe { DisassociateCurrentThreadFromCallback(instance) };
    wake_all(wake);
}
