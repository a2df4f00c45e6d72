//! An auto-reset event that is a descriptor: an eventfd.
//!
//! Writing adds to its counter. Reading takes the whole counter, or returns `EAGAIN` if it is zero. Both are atomic in
//! the kernel. An event is set if its counter is above zero. However often it is set, exactly one reader takes the
//! signal.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::{Descriptor, check, check_len, is_readable, own};

#[derive(Debug)]
pub(crate) struct Event {
    fd: OwnedFd,
}

impl Event {
    pub(crate) fn new(set: bool) -> io::Result<Self> {
        let flags = libc::EFD_NONBLOCK | libc::EFD_CLOEXEC;
        // SAFETY: takes no pointers.
        let fd = check(unsafe { libc::eventfd(set.into(), flags) })?;
        Ok(Self { fd: own(fd) })
    }

    pub(crate) fn set(&self) -> io::Result<()> {
        let one = 1_u64.to_ne_bytes();
        let fd = self.fd.as_raw_fd();
        // SAFETY: pointer and length describe `one`.
        let written = unsafe { libc::write(fd, one.as_ptr().cast(), one.len()) };
        match check_len(written) {
            // A full counter means that the event is set.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result.map(drop),
        }
    }

    /// Takes the signal, or returns `WouldBlock`.
    pub(crate) fn take(&self) -> io::Result<()> {
        let mut count = [0; 8];
        // SAFETY: pointer and length describe `count`.
        check_len(unsafe {
            libc::read(self.fd.as_raw_fd(), count.as_mut_ptr().cast(), count.len())
        })
        .map(drop)
    }

    /// Takes the signal, and waits for it for at most this many milliseconds, or without a limit. Another taker may be
    /// faster, so it may return `WouldBlock` early.
    pub(crate) fn take_within(&self, millis: Option<u32>) -> io::Result<()> {
        is_readable(self.fd.as_fd(), millis)?;
        self.take()
    }

    pub(crate) fn probe(&self) -> io::Result<bool> {
        is_readable(self.fd.as_fd(), Some(0))
    }

    /// Returns the descriptor that sets the event when it is written to.
    pub(crate) fn setter(&self) -> Descriptor<'_> {
        self.fd.as_fd()
    }
}

/// The descriptor that becomes readable when the event is set.
impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
