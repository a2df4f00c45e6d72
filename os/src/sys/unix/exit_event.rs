//! A descriptor that reports the end of a process: a pidfd of Linux.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use libc::c_int;

pub(super) type ExitEvent = OwnedFd;

/// Returns a descriptor that becomes readable when the process has ended. The process must not have been waited for.
pub(super) fn exit_event(process: u32) -> io::Result<ExitEvent> {
    // SAFETY: takes numbers only; no flags.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, process as libc::pid_t, 0) };
    let fd = c_int::try_from(fd).ok().filter(|fd| *fd >= 0).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: the call has just created it (to be closed on `exec`), and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
