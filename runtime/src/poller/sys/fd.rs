//! The manual loop as a file descriptor.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use crate::manual::Loop;

/// Readable when `ready_tasks` has something to do.
impl AsFd for Loop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor()
    }
}

impl AsRawFd for Loop {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}
