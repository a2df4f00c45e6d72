//! Win32: callbacks on a private thread pool, one for each ready socket or signalled handle.
//!
//! There are no events to take here, so no worker blocks on the OS: the OS pushes. A socket's network events
//! (`WSAEventSelect`) set an event object, for which a thread-pool wait stands by. Its callback asks what has happened,
//! tells the source, stands by again, and wakes the tasks, which go into the pool's lane. The poller's thread keeps its
//! other duties: it watches over the workers, and waits for the next deadline, which a thread-pool timer signals. See
//! [`socket_wait`], [`handle_wait`] and [`clock_wait`] for the callbacks, [`threadpool`] for the pool and its end.
//!
//! # What the OS reports, and when again
//!
//! - `FD_READ`, `FD_ACCEPT` and `FD_OOB` come again after a call that reads or accepts, if there is more or when more
//!   comes. Our own knowledge agrees with that, because only such a call clears it.
//! - `FD_WRITE` comes once at first and then only after a send that said `WSAEWOULDBLOCK`. A send
//!   that took less than all must not clear our knowledge of it (`net` sees to that).
//! - `FD_CONNECT` and `FD_CLOSE` come once.

mod clock_wait;
mod cpu_clock;
mod event;
mod handle_wait;
mod members;
mod notice;
pub(crate) mod push;
mod resume;
mod socket_wait;
#[cfg(test)]
mod tests;
mod threadpool;
mod traits;

use std::io;
use std::mem::ManuallyDrop;
use std::net::{SocketAddr, UdpSocket};
use std::os::windows::io::{
    AsRawHandle, AsRawSocket, BorrowedHandle, BorrowedSocket, FromRawSocket, RawHandle, RawSocket,
};
use std::time::{Duration, SystemTime};

use crate::gone::gone;
use crate::poller::source::Readiness;
use crate::primitives::{Arc, Condvar, Mutex, MutexGuard};

pub(crate) use super::Untold as RunDelay;
pub(crate) use cpu_clock::cpu_time_of_thread;

use event::Event;
use members::Members;
use threadpool::{Alarm, Threadpool};

/// A borrowed socket, any other handle that can be waited for, or a time of the wall clock, which the OS's
/// thread pool waits for without a handle.
#[derive(Clone, Copy, Debug)]
pub enum Descriptor<'a> {
    /// A socket: both directions, for as long as the registration lasts.
    Socket(BorrowedSocket<'a>),
    /// Reported as readable when it is signalled, once. By then the OS has waited for it, which takes the signal of an
    /// auto-reset event, a semaphore or a timer.
    Handle(BorrowedHandle<'a>),
    /// Reported as readable when the wall clock says that time, once.
    WallTime(SystemTime),
}

/// The number of a socket or a handle, if it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawDescriptor {
    /// A socket.
    Socket(RawSocket),
    /// Another handle.
    Handle(RawHandle),
    /// A time, which has no number.
    WallTime,
}

// SAFETY: a number, which names the same object on all threads.
unsafe impl Send for RawDescriptor {}
// SAFETY: as above.
unsafe impl Sync for RawDescriptor {}

/// Returns the number of a borrowed descriptor.
pub(crate) fn raw(descriptor: Descriptor<'_>) -> RawDescriptor {
    match descriptor {
        Descriptor::Socket(socket) => RawDescriptor::Socket(socket.as_raw_socket()),
        Descriptor::Handle(handle) => RawDescriptor::Handle(handle.as_raw_handle()),
        Descriptor::WallTime(_) => RawDescriptor::WallTime,
    }
}

/// Returns the number by which programs know a descriptor. Handles have 32 bits that matter.
pub(crate) fn number(descriptor: RawDescriptor) -> u32 {
    match descriptor {
        RawDescriptor::Socket(socket) => socket as u32,
        RawDescriptor::Handle(handle) => handle.addr() as u32,
        RawDescriptor::WallTime => 0,
    }
}

/// Returns the address of the peer, if the number is that of a connected socket at this moment.
pub(crate) fn peer(number: u32) -> Option<SocketAddr> {
    let socket = RawSocket::from(number);
    // SAFETY: it is not owned, so it is never closed. It is only asked for its peer. If the number means nothing any
    // more, or something other than a socket, the OS says so.
    let socket = ManuallyDrop::new(unsafe { UdpSocket::from_raw_socket(socket) });
    socket.peer_addr().ok()
}

/// The OS's clock ticks every 15.6 ms, or more often as long as somebody asks for that. Programs have to decide this
/// (`timeBeginPeriod`), because it costs power.
pub(crate) fn keep_time() {}

pub(crate) fn keeping_time<R>(f: impl FnOnce() -> R) -> R {
    f()
}

pub(crate) fn take_short_slices() {}

pub(crate) struct Selector {
    shared: Arc<Shared>,
}

/// The state that callbacks and the threads that end them share.
struct Shared {
    members: Mutex<Members>,
    /// Notified when nobody is leaving and no work item is out any more.
    quiet: Condvar,
    alarm: Alarm,
    /// Signalled for as long as `wait` would return. It is reset by hand, because somebody else may wait for it too, in
    /// an event loop that ours is nested in.
    kick: Arc<Event>,
    // Below what its callbacks use.
    pool: Threadpool,
}

impl Selector {
    pub(crate) fn new() -> io::Result<Self> {
        let kick = Arc::new(Event::new()?);
        let pool = Threadpool::new()?;
        let alarm = Alarm::new(&pool, &kick)?;
        let (members, quiet) = (Mutex::default(), Condvar::new());
        Ok(Self { shared: Arc::new(Shared { members, quiet, alarm, kick, pool }) })
    }

    /// Blocks the poller's thread, or a manual loop. There are never any events.
    pub(crate) fn wait(&self, _: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let at_once = timeout == Some(Duration::ZERO);
        if !at_once {
            self.alarm(timeout)?;
        }
        if self.shared.kick.wait(!at_once)? {
            self.shared.kick.reset();
        }
        Ok(())
    }

    pub(crate) fn alarm(&self, timeout: Option<Duration>) -> io::Result<()> {
        let members = self.shared.members.lock();
        if members.ended {
            return Err(ended());
        }
        self.shared.alarm.set(timeout);
        Ok(())
    }

    pub(crate) fn kick(&self) {
        self.shared.kick.set();
    }

    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        Descriptor::Handle(self.shared.kick.handle())
    }
}

/// Ends the pool after a shutdown that was not clean. This may be the destructor of a thread-local, where a callback's
/// thread can't be waited for, because it could not start.
impl Drop for Selector {
    fn drop(&mut self) {
        push::end_elsewhere(self);
    }
}

impl Shared {
    /// Lets nothing begin any more. Returns false if another thread has done so before.
    fn begin_end(&self) -> bool {
        let mut members = self.members.lock();
        if members.ended {
            return false;
        }
        // Under the lock: a thread that finds its registration gone may close its socket next.
        members.end();
        self.alarm.set(None);
        true
    }

    /// Returns true if nobody is leaving and no callback is in a waker any more.
    fn is_quiet(&self) -> bool {
        let members = self.members.lock();
        members.leaving + members.works == 0 && self.pool.is_idle()
    }

    /// Returns when the last callback, which may be in a waker, has returned.
    fn finish_end(&self) {
        let unsettled = self.when_nobody_leaves().to_settle();
        unsettled.iter().for_each(|wait| wait.settle());
        drop(unsettled);
        let left = self.when_nobody_leaves().left();
        self.pool.close_members();
        drop(left);
    }

    /// Waits until nobody is leaving and no work item is out. Returns the members.
    fn when_nobody_leaves(&self) -> MutexGuard<'_, Members> {
        let mut members = self.members.lock();
        while members.leaving + members.works > 0 {
            members = self.quiet.wait(members);
        }
        members
    }

    fn look_if_quiet(&self, members: &Members) {
        if members.leaving + members.works == 0 {
            self.quiet.notify_all();
        }
    }
}

fn ended() -> io::Error {
    gone("the runtime has shut down")
}

/// Contains nothing, because events come by callbacks.
pub(crate) struct Events;

impl Events {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn clear(&mut self) {}

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Readiness)> {
        std::iter::empty()
    }
}
