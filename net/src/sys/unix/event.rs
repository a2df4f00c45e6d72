//! An auto-reset event that is a descriptor: an eventfd.
//!
//! Writing adds to its counter, reading takes the whole counter or meets `EAGAIN` if that is zero.
//! Both are atomic in the kernel. So "set" is a counter above zero, and however often an event is set,
//! exactly one reader takes it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::{Descriptor, check, check_len, is_readable, own};

#[derive(Debug)]
pub(crate) struct Event {
    fd: OwnedFd,
}

impl Event {
    pub(crate) fn new(set: bool) -> io::Result<Self> {
        // SAFETY: takes no pointers.
        let fd =
            check(unsafe { libc::eventfd(set.into(), libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) })?;
        Ok(Self { fd: own(fd) })
    }

    pub(crate) fn set(&self) -> io::Result<()> {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: pointer and length describe `one`.
        let result =
            check_len(unsafe { libc::write(self.fd.as_raw_fd(), one.as_ptr().cast(), one.len()) });
        match result {
            // A counter that is full is set.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result.map(drop),
        }
    }

    /// Takes the signal, or says `WouldBlock`.
    pub(crate) fn take(&self) -> io::Result<()> {
        let mut count = [0; 8];
        // SAFETY: pointer and length describe `count`.
        check_len(unsafe {
            libc::read(self.fd.as_raw_fd(), count.as_mut_ptr().cast(), count.len())
        })
        .map(drop)
    }

    /// As [`take`](Self::take), but gives it so many milliseconds, or all the time there is. Somebody else
    /// may be quicker, so `WouldBlock` may come early.
    pub(crate) fn take_within(&self, millis: Option<u32>) -> io::Result<()> {
        is_readable(self.fd.as_fd(), millis)?;
        self.take()
    }

    pub(crate) fn is_set(&self) -> io::Result<bool> {
        is_readable(self.fd.as_fd(), Some(0))
    }

    /// What sets the event when it is written to.
    pub(crate) fn setter(&self) -> Descriptor<'_> {
        self.fd.as_fd()
    }
}

/// What becomes readable when the event is set.
impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
