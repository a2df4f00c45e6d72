//! kqueue: one queue with the sources, the alarm and the kick.
//!
//! - A source is two entries, one for each direction, both `EV_CLEAR`: every change is
//!   reported once. `udata` is the token, generation included, which takes pointers of 64 bits.
//! - The alarm is an `EVFILT_TIMER`, in nanoseconds where there are such timers.
//! - Kicks are user events, or bytes in a pipe where the OS has none (see [`kick`]).
//!
//! What differs between the systems is in [`native`]. On Linux, for the tests, another module takes its place.
//! [`native`] also says where a read may stop early without any sign of it.
//!
//! Unlike epoll, a kqueue takes a descriptor twice (the second registration takes the place of the
//! first), takes regular files (and reports nothing at their end), and says that a pipe is broken by
//! refusing it. None of this is visible to callers: see [`Selector::register`].

#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "windlass keeps 64 bits in the udata of a kevent, which this target has no room for"
);

mod descriptors;
mod kick;
#[cfg_attr(target_os = "linux", path = "libkqueue.rs")]
mod native;
mod queue;
mod wall;

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use descriptors::{Descriptors, has_readiness};
use kick::Kick;
use native::{EV_ADD, EV_CLEAR, EV_DELETE, EV_EOF, EV_ERROR, EV_ONESHOT, Event, Flags};
use queue::{Filter, Queue};

pub(crate) use super::Untold as RunDelay;
pub use wall::WallClock;

use super::policy::KQUEUE_EVENTS;
use crate::poller::source::Readiness;
use crate::primitives::Mutex;

pub(crate) use super::cpu_clock::cpu_time_of_thread;
pub(crate) use super::fd::{number, peer};

/// A borrowed file descriptor.
pub type Descriptor<'a> = BorrowedFd<'a>;
/// The number of a file descriptor.
pub type RawDescriptor = RawFd;

/// Returns the number of a borrowed descriptor.
pub(crate) fn raw(fd: Descriptor<'_>) -> RawDescriptor {
    fd.as_raw_fd()
}

/// Has the OS wake the current thread as punctually as it can. These systems do so without being asked.
pub(crate) fn keep_time() {}

pub(crate) fn keeping_time<R>(f: impl FnOnce() -> R) -> R {
    f()
}

pub(crate) fn take_short_slices() {}

/// The tokens that belong to no source.
const KICK: u64 = u64::MAX;
const ALARM: u64 = u64::MAX - 1;

pub(crate) struct Selector {
    queue: Queue,
    kick: Kick,
    /// The descriptors that are in the queue.
    registered: Mutex<Descriptors>,
}

impl Selector {
    pub(crate) fn new() -> io::Result<Self> {
        let queue = Queue::new()?;
        let kick = Kick::new(&queue, KICK)?;
        Ok(Self { queue, kick, registered: Mutex::new(Descriptors::default()) })
    }

    pub(crate) fn register(&self, fd: Descriptor<'_>, token: u64) -> io::Result<()> {
        if !has_readiness(fd)? {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        let fd = fd.as_raw_fd();
        if !self.registered.lock().insert(fd) {
            return Err(io::Error::from_raw_os_error(libc::EEXIST));
        }
        let result = self.add(fd, token);
        if result.is_err() {
            self.registered.lock().remove(fd);
        }
        result
    }

    fn add(&self, fd: RawFd, token: u64) -> io::Result<()> {
        // Writing comes first because of libkqueue: the second entry decides what it asks Linux for, and the end of the
        // stream belongs to reading.
        let [write, read] = entries(fd, EV_ADD | EV_CLEAR, token);
        if self.queue.change(&[write, read]).is_ok() {
            return Ok(());
        }
        // Trying each shows which of the two was refused, and why.
        let (written, read) = (self.queue.change(&[write]), self.queue.change(&[read]));
        match (written, read) {
            (Ok(()), Ok(())) => Ok(()),
            (Ok(()), Err(error)) | (Err(error), Ok(())) if is_one_sided(&error) => Ok(()),
            (Err(error), _) | (_, Err(error)) => {
                self.delete(fd);
                Err(error)
            }
        }
    }

    pub(crate) fn deregister(&self, fd: RawDescriptor) {
        self.delete(fd);
        self.registered.lock().remove(fd);
    }

    /// Fails only for entries that are not there, because closing the descriptor removes them too.
    fn delete(&self, fd: RawFd) {
        let both = entries(fd, EV_DELETE, 0);
        if self.queue.change(&both).is_err() {
            let [write, read] = both;
            let _ = self.queue.change(&[write]);
            let _ = self.queue.change(&[read]);
        }
    }

    pub(crate) fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        events.len = 0;
        // There is nothing after an interruption: the caller computes the time anew and waits again.
        events.len = self.queue.wait(&mut events.buffer, timeout)?;
        if events.filled().any(|event| token(event) == KICK) {
            self.kick.received();
        }
        Ok(())
    }

    pub(crate) fn kick(&self) {
        self.kick.send(&self.queue, KICK);
    }

    pub(crate) fn alarm(&self, timeout: Option<Duration>) -> io::Result<()> {
        // Not all systems set an existing timer anew. A timer that has gone off no longer exists.
        let _ = self.queue.change(&[queue::timer(EV_DELETE, Duration::ZERO, ALARM)]);
        match timeout {
            Some(time) => self.queue.change(&[queue::timer(EV_ADD | EV_ONESHOT, time, ALARM)]),
            None => Ok(()),
        }
    }

    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        self.queue.as_pollable()
    }
}

/// Returns the two entries of a descriptor.
fn entries(fd: RawFd, flags: Flags, token: u64) -> [Event; 2] {
    [Filter::Write, Filter::Read].map(|filter| queue::entry(fd, filter, flags, token))
}

fn token(event: &Event) -> u64 {
    event.udata as usize as u64
}

/// Returns true for the refusal of one direction that leaves the other as it is: there is no such direction (a device,
/// another queue), or no peer any more (a pipe), which the first operation will show.
fn is_one_sided(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EPIPE | libc::EBADF | libc::EINVAL | libc::ENODEV | libc::EOPNOTSUPP)
    )
}

/// The events of one wait.
pub(crate) struct Events {
    buffer: Box<[MaybeUninit<Event>]>,
    len: usize,
}

// SAFETY: a kevent is neither only because of its `udata`, which we use as a number and not as a pointer.
unsafe impl Send for Events {}
// SAFETY: as above.
unsafe impl Sync for Events {}

impl Events {
    pub(crate) fn new() -> Self {
        Self { buffer: (0..KQUEUE_EVENTS).map(|_| MaybeUninit::uninit()).collect(), len: 0 }
    }

    fn filled(&self) -> impl Iterator<Item = &Event> + '_ {
        // SAFETY: the kernel has filled the first `len` places.
        self.buffer[..self.len].iter().map(|event| unsafe { event.assume_init_ref() })
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Readiness)> + '_ {
        let sources = self.filled().filter(|event| token(event) < ALARM);
        sources.map(|event| (token(event), readiness(event)))
    }
}

fn readiness(event: &Event) -> Readiness {
    let ended = event.flags & EV_EOF != 0;
    // At the end of a stream `fflags` is the error of the socket, or nothing.
    let failed = event.flags & EV_ERROR != 0 || (ended && event.fflags != 0);
    if event.filter == native::EVFILT_WRITE {
        // There is no longer a peer to write to.
        return Readiness { write: true, broken: ended || failed, ..Readiness::default() };
    }
    Readiness {
        read: true,
        write: false,
        read_ends: ended || native::may_stop_short(event),
        broken: failed,
    }
}
