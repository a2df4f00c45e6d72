//! A byte in a pipe, level-triggered. The thread that it is reported to takes it out.
//!
//! Taking it out may also take out the byte of a kick that comes meanwhile. That kick is not lost: its sender did its
//! work before, and the receiver, which has not returned yet, will see that work.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::super::native::EV_ADD;
use super::super::queue::{self, Filter, Queue};

/// The pipe in a queue.
pub(in super::super) struct Kick {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Kick {
    /// Makes the pipe and adds it.
    pub(in super::super) fn new(queue: &Queue, token: u64) -> io::Result<Self> {
        let mut ends = [-1; 2];
        // SAFETY: there is room for two descriptors. If there was no error, they are new, and ours.
        let [reader, writer] = unsafe {
            if libc::pipe2(ends.as_mut_ptr(), libc::O_NONBLOCK | libc::O_CLOEXEC) != 0 {
                return Err(io::Error::last_os_error());
            }
            ends.map(|fd| OwnedFd::from_raw_fd(fd))
        };
        queue.change(&[queue::entry(reader.as_raw_fd(), Filter::Read, EV_ADD, token)])?;
        Ok(Self { reader, writer })
    }

    /// Kicks the queue that the pipe is in.
    pub(in super::super) fn send(&self, _queue: &Queue, _token: u64) {
        // Fails only if the pipe is full, and then it has been readable for a long time.
        // SAFETY: there is one byte.
        unsafe { libc::write(self.writer.as_raw_fd(), [1_u8].as_ptr().cast(), 1) };
    }

    /// Called after a wait has reported the kick.
    pub(in super::super) fn received(&self) {
        let mut bytes = [0_u8; 64];
        // What doesn't fit keeps the pipe readable, which costs a wait that returns for no reason.
        // SAFETY: pointer and length describe `bytes`.
        unsafe { libc::read(self.reader.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) };
    }
}
