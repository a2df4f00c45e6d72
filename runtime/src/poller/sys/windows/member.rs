//! One registered socket or handle: the wait that stands by for it, and the callback.
//!
//! # Closing beside a callback
//!
//! - `open` says whether a callback may touch the socket and stand by again. Closing takes that back
//!   under its lock, so when the registration has ended the socket may be closed: no callback will
//!   touch it, and no wait is pending for its event.
//! - The member itself is needed by a callback up to the moment it has collected the wakers. There it
//!   takes leave of the wait (`DisassociateCurrentThreadFromCallback`), and wakes after that. Closing
//!   waits for callbacks that have not got that far: for some instructions, never for user code, and
//!   never for itself if it is a waker of the very callback that drops the registration.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, AsRawSocket};
use std::ptr;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Networking::WinSock::{
    FD_ACCEPT, FD_CLOSE, FD_CLOSE_BIT, FD_CONNECT, FD_CONNECT_BIT, FD_OOB, FD_READ, FD_WRITE,
    SOCKET, WSAEVENT, WSAEnumNetworkEvents, WSAEventSelect, WSAGetLastError, WSANETWORKEVENTS,
};
use windows_sys::Win32::System::Threading::{
    CloseThreadpoolWait, CreateThreadpoolWait, DisassociateCurrentThreadFromCallback,
    PTP_CALLBACK_INSTANCE, PTP_POOL, PTP_WAIT, SetThreadpoolWait, WaitForThreadpoolWaitCallbacks,
};

use super::Descriptor;
use super::event::Event;
use super::threadpool::{self, Threadpool};
use crate::poller::source::{Readiness, Source};
use crate::poller::wake_all;
use crate::primitives::{Arc, Mutex};

pub(super) struct Member {
    wait: PTP_WAIT,
    // Shared with callbacks, by pointer.
    inner: Arc<Inner>,
}

struct Inner {
    object: Object,
    open: Mutex<bool>,
    source: Arc<Source>,
    pool: PTP_POOL,
}

enum Object {
    Socket(SOCKET, Event),
    Handle(HANDLE),
}

// SAFETY: a handle names the same object on all threads; all else in it may be shared.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Member {
    /// Stands by from now on.
    pub(super) fn new(
        pool: &Threadpool,
        descriptor: Descriptor<'_>,
        source: &Arc<Source>,
    ) -> io::Result<Self> {
        let object = match descriptor {
            Descriptor::Socket(socket) => {
                Object::Socket(socket.as_raw_socket() as SOCKET, Event::new()?)
            }
            Descriptor::Handle(handle) => Object::Handle(handle.as_raw_handle()),
        };
        let inner =
            Inner { object, open: Mutex::new(true), source: source.clone(), pool: pool.id() };
        let inner = Arc::new(inner);
        let (context, environment) = (Arc::as_ptr(&inner).cast_mut().cast(), pool.of_group());
        // SAFETY: `called` takes the context for what it is, and it lives until no callback can come
        // any more; the environment outlives the call.
        let wait = unsafe { CreateThreadpoolWait(Some(called), context, &environment) };
        if wait == 0 {
            return Err(io::Error::last_os_error());
        }
        let this = Self { wait, inner };
        if let Err(error) = this.inner.select() {
            this.close();
            return Err(error);
        }
        this.inner.stand_by(wait);
        Ok(this)
    }

    /// No callback touches the socket or stands by from now on.
    pub(super) fn disarm(&self) {
        let mut open = self.inner.open.lock();
        *open = false;
        if let Object::Socket(socket, _) = self.inner.object {
            // SAFETY: takes no pointers; there may be no event. It fails if the socket has
            // no events selected, and that is what is wanted.
            unsafe { WSAEventSelect(socket, 0, 0) };
        }
        // SAFETY: the wait is open; without a handle it stands by for nothing.
        unsafe { SetThreadpoolWait(self.wait, ptr::null_mut(), ptr::null()) };
    }

    /// Ends it. Whatever the OS has taken of a handle's signal by now, the source knows when this
    /// returns.
    pub(super) fn close(self) {
        self.disarm();
        // A callback that is due for a handle tells that its signal was taken: it has to run.
        let cancel = matches!(self.inner.object, Object::Socket(..));
        // SAFETY: the wait is open, and nobody else has it any more. After the first call no callback
        // of it is left that would look at `inner`, which is dropped here.
        unsafe {
            WaitForThreadpoolWaitCallbacks(self.wait, cancel.into());
            CloseThreadpoolWait(self.wait);
        }
    }

    /// Drops what is left of a member that was closed with its group.
    pub(super) fn forget(self) {}
}

impl Inner {
    fn select(&self) -> io::Result<()> {
        const EVENTS: u32 = FD_READ | FD_WRITE | FD_OOB | FD_ACCEPT | FD_CONNECT | FD_CLOSE;
        let Object::Socket(socket, event) = &self.object else { return Ok(()) };
        // SAFETY: the event is open, and stays so until no events are selected any more.
        match unsafe { WSAEventSelect(*socket, event.raw() as WSAEVENT, EVENTS as i32) } {
            0 => Ok(()),
            _ => Err(last_error()),
        }
    }

    fn stand_by(&self, wait: PTP_WAIT) {
        let handle = match &self.object {
            Object::Socket(_, event) => event.raw(),
            Object::Handle(handle) => *handle,
        };
        // SAFETY: the wait is open, and so is the handle until the wait is disarmed: an event of ours,
        // or a handle that outlives its registration.
        unsafe { SetThreadpoolWait(wait, handle, ptr::null()) };
    }

    fn readiness(&self, wait: PTP_WAIT) -> Option<Readiness> {
        let open = self.open.lock();
        match &self.object {
            Object::Socket(socket, event) if *open => {
                let readiness = happened(*socket, event);
                self.stand_by(wait);
                Some(readiness)
            }
            Object::Socket(..) => None,
            // The OS has waited for it, open or not.
            Object::Handle(_) => Some(Readiness { read: true, ..Readiness::default() }),
        }
    }
}

unsafe extern "system" fn called(
    instance: PTP_CALLBACK_INSTANCE,
    context: *mut c_void,
    wait: PTP_WAIT,
    _result: u32,
) {
    // SAFETY: it lives at least until this callback has taken leave, see `Member::close`.
    let inner = unsafe { &*context.cast::<Inner>() };
    threadpool::enter(inner.pool);
    let mut wake = Vec::new();
    if let Some(readiness) = inner.readiness(wait) {
        inner.source.event(readiness, &mut wake);
    }
    // SAFETY: the instance is this call's. `inner` is not used any more.
    unsafe { DisassociateCurrentThreadFromCallback(instance) };
    wake_all(wake);
}

/// What has happened on a socket since it was last asked. Also resets the event.
fn happened(socket: SOCKET, event: &Event) -> Readiness {
    let mut events = WSANETWORKEVENTS::default();
    // SAFETY: the event is open, and there is room for the answer.
    if unsafe { WSAEnumNetworkEvents(socket, event.raw() as WSAEVENT, &mut events) } != 0 {
        // The socket was closed under our feet, or is of no use any more: its operations will tell.
        event.reset();
        return Readiness { broken: true, ..Readiness::default() };
    }
    let any = |wanted: u32| events.lNetworkEvents as u32 & wanted != 0;
    let failed = |event: u32, bit: u32| any(event) && events.iErrorCode[bit as usize] != 0;
    Readiness {
        read: any(FD_READ | FD_ACCEPT | FD_OOB),
        write: any(FD_WRITE | FD_CONNECT),
        // As on other systems, a read stops at the mark of urgent data.
        read_ends: any(FD_CLOSE | FD_OOB),
        broken: failed(FD_CLOSE, FD_CLOSE_BIT) || failed(FD_CONNECT, FD_CONNECT_BIT),
    }
}

fn last_error() -> io::Error {
    // SAFETY: takes nothing.
    io::Error::from_raw_os_error(unsafe { WSAGetLastError() })
}
