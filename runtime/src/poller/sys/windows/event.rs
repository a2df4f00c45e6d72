//! An event object that stays signalled until it is reset.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::{HANDLE, WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading::{
    CreateEventW, INFINITE, ResetEvent, SetEvent, WaitForSingleObject,
};

pub(super) struct Event(OwnedHandle);

impl Event {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: null is allowed for the attributes and for the name.
        let handle = unsafe { CreateEventW(ptr::null(), 1, 0, ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new, and nobody else has it.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(handle) }))
    }

    pub(super) fn set(&self) {
        // SAFETY: the handle is open. For an event object this cannot fail.
        unsafe { SetEvent(self.raw()) };
    }

    pub(super) fn reset(&self) {
        // SAFETY: as above.
        unsafe { ResetEvent(self.raw()) };
    }

    /// Blocks until the event is set if `block` is true, otherwise only looks. Returns true if the event is set.
    pub(super) fn wait(&self, block: bool) -> io::Result<bool> {
        // SAFETY: the handle is open.
        match unsafe { WaitForSingleObject(self.raw(), if block { INFINITE } else { 0 }) } {
            WAIT_OBJECT_0 => Ok(true),
            WAIT_TIMEOUT => Ok(false),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    pub(super) fn handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}
