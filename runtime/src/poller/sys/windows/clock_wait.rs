//! A timer of the thread pool for a time of the wall clock; its callback comes once.
//!
//! The time is an absolute one (`SetThreadpoolTimer` with a positive `FILETIME`), so the OS follows when the clock is
//! set. At worst the callback comes too early, and then the task looks at the clock and waits anew.

use std::ffi::c_void;
use std::io;
use std::ptr;
use std::time::SystemTime;

use windows_sys::Win32::System::Threading::{
    CloseThreadpoolTimer, CreateThreadpoolTimer, PTP_CALLBACK_INSTANCE, PTP_TIMER,
    SetThreadpoolTimer, WaitForThreadpoolTimerCallbacks,
};

use super::notice::{self, Notice};
use super::threadpool::{Threadpool, absolute};
use crate::poller::source::Source;
use crate::primitives::Arc;

pub(super) struct ClockWait {
    timer: PTP_TIMER,
    // Used by the callback, by pointer.
    _notice: Arc<Notice>,
}

impl ClockWait {
    /// Creates a timer that goes off once, when the clock reaches `time`, or at once if that has already passed.
    pub(super) fn new(
        pool: &Threadpool,
        time: SystemTime,
        source: &Arc<Source>,
    ) -> io::Result<Self> {
        let notice = Notice::new(pool, source);
        let environment = pool.of_group();
        // SAFETY: `called` takes the context for what it is, and it lives until no callback can come
        // any more; the environment outlives the call.
        let timer = unsafe { CreateThreadpoolTimer(Some(called), notice.context(), &environment) };
        if timer == 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the timer is open, and the time outlives the call.
        unsafe { SetThreadpoolTimer(timer, &absolute(time), 0, 0) };
        Ok(Self { timer, _notice: notice })
    }

    /// Makes sure that no callback becomes due from now on.
    pub(super) fn disarm(&self) {
        // SAFETY: the timer is open; no time stops it.
        unsafe { SetThreadpoolTimer(self.timer, ptr::null(), 0, 0) };
    }

    /// Ends the timer, along with a callback that is due and has not begun.
    pub(super) fn close(self) {
        self.disarm();
        // SAFETY: the timer is open, and nobody else has it any more. After the first call no callback
        // of it is left that would look at the notice, which is dropped here.
        unsafe {
            WaitForThreadpoolTimerCallbacks(self.timer, 1);
            CloseThreadpoolTimer(self.timer);
        }
    }
}

unsafe extern "system" fn called(
    instance: PTP_CALLBACK_INSTANCE,
    context: *mut c_void,
    _timer: PTP_TIMER,
) {
    // SAFETY: the context is the notice of a timer, see `ClockWait::close` and `Shared::finish_end`.
    unsafe { notice::deliver(instance, context) };
}
