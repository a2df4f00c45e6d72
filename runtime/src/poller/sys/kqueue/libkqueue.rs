//! kqueue on Linux, by libkqueue. It takes the place of `native` in tests of this backend, under `--cfg
//! windlass_poller="kqueue"` (see `scripts/kqueue`).
//!
//! libkqueue keeps an epoll instance behind each queue and gives out the writing end of a pipe, which
//! it watches for being closed. That descriptor can't be watched for events. The epoll instance can,
//! but libkqueue keeps it to itself; so it is looked up in /proc.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use libc::{c_int, c_short, c_uint, c_ushort, c_void, timespec};

/// The type of changes and events.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) ident: usize,
    pub(super) filter: c_short,
    pub(super) flags: Flags,
    pub(super) fflags: c_uint,
    pub(super) data: isize,
    pub(super) udata: *mut c_void,
}

/// The type of the `EV_` constants.
pub(super) type Flags = c_ushort;

pub(super) const EVFILT_READ: c_short = -1;
pub(super) const EVFILT_WRITE: c_short = -2;
pub(super) const EVFILT_TIMER: c_short = -7;
#[cfg(not(windlass_kick = "pipe"))]
pub(super) const EVFILT_USER: c_short = -11;

pub(super) const EV_ADD: Flags = 0x0001;
pub(super) const EV_DELETE: Flags = 0x0002;
pub(super) const EV_ONESHOT: Flags = 0x0010;
pub(super) const EV_CLEAR: Flags = 0x0020;
pub(super) const EV_EOF: Flags = 0x8000;
pub(super) const EV_ERROR: Flags = 0x4000;

#[cfg(not(windlass_kick = "pipe"))]
pub(super) const NOTE_TRIGGER: c_uint = 0x0100_0000;

/// The finest unit of timers: the flag that asks for it, and its length in nanoseconds.
pub(super) const TIMER_UNIT: (c_uint, u64) = (0x0004, 1);

/// The flag that makes a timer's time one of the wall clock.
pub(super) const TIMER_ABSOLUTE: Option<c_uint> = Some(0x0008);

#[link(name = "kqueue")]
unsafe extern "C" {
    pub(super) fn kqueue() -> c_int;
    pub(super) fn kevent(
        queue: c_int,
        changes: *const Event,
        change_count: c_int,
        events: *mut Event,
        event_room: c_int,
        timeout: *const timespec,
    ) -> c_int;
}

pub(super) fn empty() -> Event {
    Event { ident: 0, filter: 0, flags: 0, fflags: 0, data: 0, udata: std::ptr::null_mut() }
}

/// Returns true if a read may stop before the last byte that is there: at the mark of urgent data, which
/// libkqueue does not report.
pub(super) fn may_stop_short(_event: &Event) -> bool {
    true
}

/// Returns the epoll instance behind a queue: the one that waits for the other end of the queue's pipe to become
/// readable. (A thread of libkqueue waits for it too, but only for it to be closed.)
pub(super) fn pollable(queue: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    let pipe = std::fs::read_link(format!("/proc/self/fd/{}", queue.as_raw_fd()))?;
    let inode = pipe.to_str().and_then(|pipe| pipe.strip_prefix("pipe:[")?.strip_suffix(']'));
    let inode = inode.and_then(|inode| inode.parse::<u64>().ok()).ok_or(io::ErrorKind::NotFound)?;
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let fd = name.to_str().and_then(|name| name.parse::<c_int>().ok());
        let Some(fd) = fd.filter(|&fd| watches(fd, inode)) else { continue };
        // SAFETY: `watches` has just seen that it is the instance of a queue that is open, and
        // libkqueue closes that only after the queue.
        return unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned().map(Some);
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "libkqueue has no epoll instance behind its queue"))
}

/// Returns true for an epoll instance that waits for a pipe to become readable, or closed: `EPOLLIN | EPOLLHUP`.
fn watches(fd: c_int, inode: u64) -> bool {
    let Ok(info) = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")) else { return false };
    info.lines().any(|line| {
        let mut words = line.split_whitespace();
        let mut value = |key: &str| {
            let word = words.find_map(|word| word.strip_prefix(key))?;
            let word = if word.is_empty() { words.next()? } else { word };
            u64::from_str_radix(word, 16).ok()
        };
        line.starts_with("tfd:")
            && value("events:").is_some_and(|events| events & 0x11 == 0x11)
            && value("ino:") == Some(inode)
    })
}
