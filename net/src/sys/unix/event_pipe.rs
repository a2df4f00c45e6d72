//! An auto-reset event that is a pipe: for systems without eventfd.
//!
//! Writing adds bytes, whichever they are; "set" is a pipe that is not empty. A taker reads until the pipe
//! is empty and holds a lock meanwhile, so that however often the event was set, exactly one taker of this
//! process gets it. A pipe that is full is set.
//!
//! A user event of kqueue would do within the process, but nobody else could set it: foreign code can
//! write.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use windlass_sync::primitives::Mutex;

use super::{Descriptor, check_len, is_readable, make};

#[derive(Debug)]
pub(crate) struct Event {
    /// Held to take: emptying the pipe is several calls.
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
                // A pipe that is full is set.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map(drop),
            }
        }
    }

    /// Takes the signal, or says `WouldBlock`.
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

    /// As [`take`](Self::take), but gives it so many milliseconds, or all the time there is. Somebody else
    /// may be quicker, so `WouldBlock` may come early.
    pub(crate) fn take_within(&self, millis: Option<u32>) -> io::Result<()> {
        is_readable(self.read.as_fd(), millis)?;
        self.take()
    }

    pub(crate) fn is_set(&self) -> io::Result<bool> {
        is_readable(self.read.as_fd(), Some(0))
    }

    /// What sets the event when it is written to.
    pub(crate) fn setter(&self) -> Descriptor<'_> {
        self.write.as_fd()
    }
}

/// What becomes readable when the event is set.
impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }
}
