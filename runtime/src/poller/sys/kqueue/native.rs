//! kqueue as macOS and the BSDs have it.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

pub(super) use libc::{
    EV_ADD, EV_CLEAR, EV_DELETE, EV_EOF, EV_ERROR, EV_ONESHOT, EVFILT_READ, EVFILT_TIMER,
    EVFILT_WRITE, kevent, kqueue,
};
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub(super) use libc::{EVFILT_USER, NOTE_TRIGGER};

/// The type of changes and events.
pub(super) type Event = libc::kevent;

/// The type of the `EV_` constants.
#[cfg(target_os = "netbsd")]
pub(super) type Flags = u32;
/// The type of the `EV_` constants.
#[cfg(not(target_os = "netbsd"))]
pub(super) type Flags = u16;

/// The finest unit of timers: how to ask for it, and its nanoseconds.
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub(super) const TIMER_UNIT: (u32, u64) = (libc::NOTE_NSECONDS, 1);
/// The finest unit of timers: the flag that asks for it, and its length in nanoseconds. NetBSD has had finer ones only
/// since version 10, and OpenBSD not for long.
#[cfg(not(any(target_os = "macos", target_os = "freebsd")))]
pub(super) const TIMER_UNIT: (u32, u64) = (0, 1_000_000);

/// The flag that makes a timer's time one of the wall clock, on systems that have had it for long.
#[cfg(target_os = "freebsd")]
pub(super) const TIMER_ABSOLUTE: Option<u32> = Some(libc::NOTE_ABSTIME);
/// The flag that makes a timer's time one of the wall clock, on systems that have had it for long.
#[cfg(target_os = "macos")]
pub(super) const TIMER_ABSOLUTE: Option<u32> = Some(libc::NOTE_ABSOLUTE);
/// The flag that makes a timer's time one of the wall clock, on systems that have had it for long.
#[cfg(not(any(target_os = "freebsd", target_os = "macos")))]
pub(super) const TIMER_ABSOLUTE: Option<u32> = None;

pub(super) fn empty() -> Event {
    // SAFETY: it consists of numbers and a pointer that is never followed, for all of which zero is valid.
    unsafe { std::mem::zeroed() }
}

/// Returns the kqueue itself, which can be watched by another, and by `poll`.
pub(super) fn pollable(_queue: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    Ok(None)
}

/// Returns true if a read may stop before the last byte that is there: at the mark of urgent data.
#[cfg(target_os = "macos")]
pub(super) fn may_stop_short(event: &Event) -> bool {
    event.flags & libc::EV_OOBAND != 0
}

/// Returns true if a read may stop before the last byte that is there: at the mark of urgent data, which these systems
/// don't report. So a short read never saves the read that meets `EAGAIN`.
#[cfg(not(target_os = "macos"))]
pub(super) fn may_stop_short(_event: &Event) -> bool {
    true
}
