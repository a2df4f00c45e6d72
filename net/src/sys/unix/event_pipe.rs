//! An auto-reset event that is a pipe: for systems without eventfd.
//!
//! Writing adds bytes, whose values do not matter. An event is set if its pipe is not empty. A taker reads until the
//! pipe is empty, and holds a lock meanwhile, so that however often the event was set, exactly one taker in this
//! process gets the signal.
//!
//! A kqueue user event would work within the process, but other processes could not set it. They can write to a pipe.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use windlass_sync::primitives::Mutex;

use super::{Descriptor, check_len, is_readable, make};

#[derive(Debug)]
pub(crate) struct Event {
    /// Held while the signal is taken, because emptying the pipe takes several calls.
    taking: Mutex<()>,
    read: OwnedFd,
    write: OwnedFd,
}

impl Event {
    pub(crate) fn new(set: bool) -> io::Result<Self> {
        let [read, write] = make::pipe()?;
        let event = Self { taking: Mutex::new(()), read, write };
        if set {
            event.set()?;
        }
        Ok(event)
    }

    pub(crate) fn set(&self) -> io::Result<()> {
        let byte = [1_u8];
        loop {
            // SAFETY: there is one byte.
            let result = check_len(unsafe {
                libc::write(self.write.as_raw_fd(), byte.as_ptr().cast(), byte.len())
            });
            match result {
                // A full pipe means that the event is set.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map(drop),
            }
        }
    }

    /// Takes the signal, or returns `WouldBlock`.
    pub(crate) fn take(&self) -> io::Result<()> {
        let _taking = self.taking.lock();
        let mut bytes = [0_u8; 256];
        let mut taken = false;
        loop {
            // SAFETY: pointer and length describe `bytes`.
            let result = check_len(unsafe {
                libc::read(self.read.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len())
            });
            match result {
                Ok(count) if count == bytes.len() => taken = true,
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && taken => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the signal, and waits for it for at most this many milliseconds, or without a limit. Another taker may be
    /// faster, so it may return `WouldBlock` early.
    pub(crate) fn take_within(&self, millis: Option<u32>) -> io::Result<()> {
        is_readable(self.read.as_fd(), millis)?;
        self.take()
    }

    pub(crate) fn probe(&self) -> io::Result<bool> {
        is_readable(self.read.as_fd(), Some(0))
    }

    /// Returns the descriptor that sets the event when it is written to.
    pub(crate) fn setter(&self) -> Descriptor<'_> {
        self.write.as_fd()
    }
}

/// The descriptor that becomes readable when the event is set.
impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}
