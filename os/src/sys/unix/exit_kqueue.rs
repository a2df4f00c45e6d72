//! A descriptor that reports the end of a process: a kqueue that watches nothing else.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use super::check;

pub(super) type ExitEvent = OwnedFd;

/// Returns a descriptor that becomes readable when the process has ended. The process must not have been waited for.
pub(super) fn exit_event(process: u32) -> io::Result<ExitEvent> {
    // SAFETY: takes nothing.
    let queue = check(unsafe { libc::kqueue() })?;
    // SAFETY: the call has just created it, and nobody else has it. Children don't inherit it.
    let queue = unsafe { OwnedFd::from_raw_fd(queue) };
    // SAFETY: it is made of numbers and a pointer that nobody follows.
    let mut change: libc::kevent = unsafe { std::mem::zeroed() };
    change.ident = process as _;
    change.filter = libc::EVFILT_PROC as _;
    change.flags = (libc::EV_ADD | libc::EV_ONESHOT) as _;
    change.fflags = libc::NOTE_EXIT as _;
    // SAFETY: there is one change and no room for events, which are not requested.
    check(unsafe { libc::kevent(queue.as_raw_fd(), &change, 1, ptr::null_mut(), 0, ptr::null()) })?;
    Ok(queue)
}
