//! A wait of the thread pool for a socket, and its callback. It serves one socket after another.
//!
//! # Changing sockets beside a callback
//!
//! `served` says which socket a callback may ask, and whom to tell. Releasing takes that back under its lock. So when a
//! registration has ended, the socket may be closed: no callback will touch it, and no wait is pending for its event. A
//! callback that was due for the last socket and comes when there is a next one asks the next one. It finds something
//! or nothing, and tells whatever it finds.
//!
//! So nobody has to wait for callbacks before the pool's end, and the wait and its event can stay for the next socket,
//! which saves four system calls a connection. It also keeps the event's handle open. Wine's threads may still be about
//! to wait for a handle when the call that takes the wait back has returned. If the handle's number belongs to
//! something else by then, that loses a signal.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawSocket, BorrowedSocket};
use std::ptr;
use std::task::Waker;

use windows_sys::Win32::Networking::WinSock::{
    FD_ACCEPT, FD_CLOSE, FD_CLOSE_BIT, FD_CONNECT, FD_CONNECT_BIT, FD_OOB, FD_READ, FD_WRITE,
    SOCKET, WSAEVENT, WSAEnumNetworkEvents, WSAEventSelect, WSAGetLastError, WSANETWORKEVENTS,
};
use windows_sys::Win32::System::Threading::{
    CloseThreadpoolWait, CreateThreadpoolWait, DisassociateCurrentThreadFromCallback,
    PTP_CALLBACK_INSTANCE, PTP_WAIT, SetThreadpoolWait, WaitForThreadpoolWaitCallbacks,
};

use super::event::Event;
use super::threadpool::{Callbacks, Threadpool};
use crate::poller::source::{Readiness, Source};
use crate::poller::wake_all;
use crate::primitives::{Arc, Mutex};

pub(super) struct SocketWait {
    wait: PTP_WAIT,
    // Shared with callbacks, by pointer.
    inner: Arc<Inner>,
}

struct Inner {
    event: Event,
    served: Mutex<Option<Served>>,
    callbacks: Callbacks,
}

struct Served {
    socket: SOCKET,
    source: Arc<Source>,
}

impl SocketWait {
    pub(super) fn new(pool: &Threadpool) -> io::Result<Self> {
        let callbacks = pool.callbacks().clone();
        let inner = Inner { event: Event::new()?, served: Mutex::new(None), callbacks };
        let inner = Arc::new(inner);
        let (context, environment) = (Arc::as_ptr(&inner).cast_mut().cast(), pool.of_group());
        // SAFETY: `called` takes the context for what it is, and it lives until no callback can come
        // any more; the environment outlives the call.
        let wait = unsafe { CreateThreadpoolWait(Some(called), context, &environment) };
        if wait == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { wait, inner })
    }

    /// Stands by for a socket from now on, until it is released.
    pub(super) fn serve(&self, socket: BorrowedSocket<'_>, source: &Arc<Source>) -> io::Result<()> {
        let socket = socket.as_raw_socket() as SOCKET;
        let mut served = self.inner.served.lock();
        self.inner.select(socket)?;
        *served = Some(Served { socket, source: source.clone() });
        self.inner.stand_by(self.wait);
        Ok(())
    }

    /// Makes sure that, from now on, no callback touches the socket, stands by for it, or tells its source.
    pub(super) fn release(&self) {
        let mut served = self.inner.served.lock();
        let Some(Served { socket, source }) = served.take() else { return };
        // SAFETY: takes no pointers; there may be no event. It fails if the socket has no events selected, which is
        // what is wanted.
        unsafe { WSAEventSelect(socket, 0, 0) };
        // SAFETY: the wait is open; without a handle it stands by for nothing.
        unsafe { SetThreadpoolWait(self.wait, ptr::null_mut(), ptr::null()) };
        self.inner.event.reset();
        drop(served);
        // The source's wakers are user code, which must not run under the lock.
        drop(source);
    }

    /// Ends a wait that serves no socket. A callback that does this has taken leave before.
    pub(super) fn close(self) {
        // SAFETY: the wait is open, and nobody else has it any more. After the first call no callback
        // of it is left that would look at `inner`, which is dropped here.
        unsafe {
            WaitForThreadpoolWaitCallbacks(self.wait, 1);
            CloseThreadpoolWait(self.wait);
        }
    }
}

impl Inner {
    fn select(&self, socket: SOCKET) -> io::Result<()> {
        const EVENTS: u32 = FD_READ | FD_WRITE | FD_OOB | FD_ACCEPT | FD_CONNECT | FD_CLOSE;
        // SAFETY: the event is open, and stays so until no events are selected any more.
        match unsafe { WSAEventSelect(socket, self.event.raw() as WSAEVENT, EVENTS as i32) } {
            0 => Ok(()),
            // SAFETY: takes no arguments.
            _ => Err(io::Error::from_raw_os_error(unsafe { WSAGetLastError() })),
        }
    }

    fn stand_by(&self, wait: PTP_WAIT) {
        // SAFETY: the wait is open, and so is the event for as long as the wait is.
        unsafe { SetThreadpoolWait(wait, self.event.raw(), ptr::null()) };
    }

    /// Tells the source what has happened, and returns the wakers to be woken.
    fn tell(&self, wait: PTP_WAIT) -> Vec<Waker> {
        let mut wake = Vec::new();
        let served = self.served.lock();
        if let Some(Served { socket, source }) = &*served {
            let readiness = happened(*socket, &self.event);
            self.stand_by(wait);
            source.event(readiness, &mut wake);
        }
        wake
    }
}

unsafe extern "system" fn called(
    instance: PTP_CALLBACK_INSTANCE,
    context: *mut c_void,
    wait: PTP_WAIT,
    _result: u32,
) {
    // SAFETY: it lives at least until this callback has taken leave: see `close`, and `Shared::finish_end`.
    let inner = unsafe { &*context.cast::<Inner>() };
    let _running = inner.callbacks.enter();
    let wake = inner.tell(wait);
    // From here on nobody waits for this callback: wakers may take their time, and end the pool.
    // SAFETY: the instance is this call's. `inner` is not used any more.
    unsafe { DisassociateCurrentThreadFromCallback(instance) };
    wake_all(wake);
}

/// Returns what has happened on a socket since it was last asked. Also resets the event.
fn happened(socket: SOCKET, event: &Event) -> Readiness {
    let mut events = WSANETWORKEVENTS::default();
    // SAFETY: the event is open, and there is room for the answer.
    if unsafe { WSAEnumNetworkEvents(socket, event.raw() as WSAEVENT, &mut events) } != 0 {
        // The socket was closed under our feet, or is no longer usable. Its operations will show that.
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
