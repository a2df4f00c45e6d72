//! An auto-reset event that is an object of the OS: an event object, which is reset by the wait
//! that it lets through. So however often it is set, exactly one waiter takes the signal.

use std::io;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};

use windlass_sync::primitives::Arc;
use windows_sys::Win32::Foundation::{WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading::{
    CreateEventW, INFINITE, SetEvent, WaitForSingleObject,
};

use super::wait::Signalled;

#[derive(Debug)]
pub(crate) struct Event {
    /// Also held by each wait, so that the handle stays open for as long as the OS waits for it.
    handle: Arc<OwnedHandle>,
}

impl Event {
    pub(crate) fn new(set: bool) -> io::Result<Self> {
        // SAFETY: null is allowed for the attributes and for the name.
        let handle = unsafe { CreateEventW(std::ptr::null(), 0, set.into(), std::ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new, and nobody else has it.
        let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
        Ok(Self { handle: Arc::new(handle) })
    }

    pub(crate) fn set(&self) -> io::Result<()> {
        set(self.as_handle())
    }

    /// Takes the signal, or returns `WouldBlock`.
    pub(crate) fn take(&self) -> io::Result<()> {
        take(self.as_handle())
    }

    /// Takes the signal and puts it back, because the OS reports it only to a wait that takes it.
    pub(crate) fn probe(&self) -> io::Result<bool> {
        match self.take() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            result => result.and_then(|()| self.set()).map(|()| true),
        }
    }

    /// Takes the signal, and waits for it for at most this many milliseconds, or without a limit.
    pub(crate) fn take_within(&self, millis: Option<u32>) -> io::Result<()> {
        wait(self.as_handle(), millis.unwrap_or(INFINITE))
    }
}

impl AsHandle for Event {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.handle.as_handle()
    }
}

/// Waits for a handle with a call of the OS, which takes the signal of an auto-reset event.
pub(super) fn take(handle: BorrowedHandle<'_>) -> io::Result<()> {
    wait(handle, 0)
}

fn wait(handle: BorrowedHandle<'_>, millis: u32) -> io::Result<()> {
    // SAFETY: the handle is open for as long as it is borrowed.
    match unsafe { WaitForSingleObject(handle.as_raw_handle(), millis) } {
        WAIT_OBJECT_0 => Ok(()),
        WAIT_TIMEOUT => Err(io::ErrorKind::WouldBlock.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn set(handle: BorrowedHandle<'_>) -> io::Result<()> {
    // SAFETY: the handle is open for as long as it is borrowed.
    match unsafe { SetEvent(handle.as_raw_handle()) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The waits of tasks for an event: each task has its own.
#[derive(Debug, Default)]
pub(crate) struct EventWaits;

impl EventWaits {
    pub(crate) async fn wait(&self, event: &Event) -> io::Result<()> {
        // Taken for a task whose future was dropped: put back for the next one.
        Signalled::new(event.handle.clone(), |handle| drop(set(handle)))?.await
    }
}
