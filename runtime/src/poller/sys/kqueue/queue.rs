//! One kqueue.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use super::native::{self, Event, Flags};

/// The part of a descriptor that is waited for.
#[derive(Clone, Copy)]
pub(super) enum Filter {
    Read,
    Write,
}

/// Returns a change of the entry for a descriptor and a filter.
pub(super) fn entry(fd: RawFd, filter: Filter, flags: Flags, token: u64) -> Event {
    let mut event = native::empty();
    event.ident = fd as usize;
    event.filter = match filter {
        Filter::Read => native::EVFILT_READ,
        Filter::Write => native::EVFILT_WRITE,
    };
    event.flags = flags;
    event.udata = token as usize as *mut libc::c_void;
    event
}

/// Returns a change of a timer, named by its token, that goes off after some time.
pub(super) fn timer(flags: Flags, time: Duration, token: u64) -> Event {
    timer_at(flags, 0, time.min(LONGEST), token)
}

/// Returns a change of a timer that goes off at a time, counted from 1970 if `absolute` says so.
pub(super) fn timer_at(flags: Flags, absolute: u32, time: Duration, token: u64) -> Event {
    let (fflags, unit) = native::TIMER_UNIT;
    let units = time.as_nanos().div_ceil(unit.into());
    let mut event = native::empty();
    event.ident = token as usize;
    event.filter = native::EVFILT_TIMER;
    event.flags = flags;
    event.fflags = fflags | absolute;
    // On some systems a time of zero stops a timer.
    event.data = units.clamp(1, i64::MAX as u128) as _;
    event.udata = token as usize as *mut libc::c_void;
    event
}

pub(super) struct Queue {
    fd: OwnedFd,
    /// The descriptor that becomes readable when there are events, if that is not `fd` itself.
    pollable: Option<OwnedFd>,
}

impl Queue {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: takes no arguments; the result is a new descriptor or an error.
        let fd = unsafe {
            match native::kqueue() {
                -1 => return Err(io::Error::last_os_error()),
                fd => OwnedFd::from_raw_fd(fd),
            }
        };
        // No kqueue survives a fork. But where `kqueue` takes no flags, a process that another thread forks and
        // executes in between could still inherit the number.
        // SAFETY: takes no pointer, and the descriptor is open.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        let pollable = native::pollable(fd.as_fd())?;
        Ok(Self { fd, pollable })
    }

    /// Applies changes in order, up to the first that is refused.
    pub(super) fn change(&self, changes: &[Event]) -> io::Result<()> {
        loop {
            // SAFETY: the list of changes is as long as said, and there is no list of events, so
            // that errors are returned instead of listed, and nothing is waited for.
            let result = unsafe {
                native::kevent(
                    self.fd.as_raw_fd(),
                    changes.as_ptr(),
                    changes.len() as _,
                    std::ptr::null_mut(),
                    0,
                    std::ptr::null(),
                )
            };
            if result >= 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            // It makes no difference whether an interruption came before the changes or after, because they can be made
            // twice.
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    /// Waits for events and returns their number: zero when the time is over, or after an interruption.
    pub(super) fn wait(
        &self,
        room: &mut [MaybeUninit<Event>],
        timeout: Option<Duration>,
    ) -> io::Result<usize> {
        let time = timeout.map(timespec);
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: there are no changes, the list of events has as much room as said, and the time is
        // null or on this frame.
        let taken = unsafe {
            native::kevent(
                self.fd.as_raw_fd(),
                std::ptr::null(),
                0,
                room.as_mut_ptr().cast::<Event>(),
                room.len() as _,
                time,
            )
        };
        usize::try_from(taken).or_else(|_| {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted { Ok(0) } else { Err(error) }
        })
    }

    /// Returns the descriptor that becomes readable when there are events, to be watched by another
    /// queue, or by `poll`.
    pub(super) fn as_pollable(&self) -> BorrowedFd<'_> {
        self.pollable.as_ref().unwrap_or(&self.fd).as_fd()
    }
}

/// The longest wait: three weeks. NetBSD and OpenBSD refuse more than 10^8 seconds, and libkqueue
/// counts milliseconds in an `int`.
const LONGEST: Duration = Duration::from_secs(2_000_000);

/// Returns a time-out in the kernel's form. One that can't be expressed is cut to the longest.
fn timespec(timeout: Duration) -> libc::timespec {
    let timeout = timeout.min(LONGEST);
    libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: timeout.subsec_nanos().into(),
    }
}
