//! What the tests want of Windows that std has no functions for.

use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::time::Duration;

use windows_sys::Win32::Foundation::{GetHandleInformation, HANDLE};
use windows_sys::Win32::System::Threading::{
    CreateEventW, CreateWaitableTimerW, EVENT_MODIFY_STATE, OpenEventW, SetEvent, SetWaitableTimer,
};

/// How many handles the process has open. Wine has no answer to the question itself (it says none), so the
/// numbers are tried: they are multiples of four, and small.
pub(crate) fn open_handles() -> usize {
    const MOST: usize = 1 << 14;
    let is_open = |number: &usize| {
        let mut flags = 0;
        // SAFETY: asks for flags, of whatever number; there is room for the answer.
        unsafe { GetHandleInformation((number * 4) as HANDLE, &mut flags) != 0 }
    };
    (1..MOST).filter(is_open).count()
}

fn own(handle: HANDLE) -> OwnedHandle {
    assert!(!handle.is_null(), "{}", std::io::Error::last_os_error());
    // SAFETY: it is new, all callers say.
    unsafe { OwnedHandle::from_raw_handle(handle) }
}

/// A waitable timer that resets itself.
pub(crate) fn timer() -> OwnedHandle {
    // SAFETY: null is allowed for the attributes and for the name.
    own(unsafe { CreateWaitableTimerW(std::ptr::null(), 0, std::ptr::null()) })
}

pub(crate) fn set_timer(timer: &OwnedHandle, after: Duration) {
    let due = -((after.as_nanos() / 100) as i64);
    let handle = timer.as_raw_handle();
    // SAFETY: the timer is open, and the time outlives the call.
    let set = unsafe { SetWaitableTimer(handle, &due, 0, None, std::ptr::null(), 0) };
    assert_ne!(set, 0);
}

/// An event that is reset by hand.
pub(crate) fn event() -> OwnedHandle {
    // SAFETY: null is allowed for the attributes and for the name.
    own(unsafe { CreateEventW(std::ptr::null(), 1, 0, std::ptr::null()) })
}

pub(crate) fn set(event: &impl AsRawHandle) {
    // SAFETY: the handle is open.
    assert_ne!(unsafe { SetEvent(event.as_raw_handle()) }, 0);
}

/// A handle of an event that may be set by it, but not waited for.
pub(crate) fn event_to_set_only() -> OwnedHandle {
    let name: Vec<u16> = format!("windlass-{}\0", std::process::id()).encode_utf16().collect();
    // SAFETY: the name ends with a zero, and null is allowed for the attributes.
    let _event = own(unsafe { CreateEventW(std::ptr::null(), 1, 0, name.as_ptr()) });
    // SAFETY: as above.
    own(unsafe { OpenEventW(EVENT_MODIFY_STATE, 0, name.as_ptr()) })
}
