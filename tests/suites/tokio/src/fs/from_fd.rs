//! Files from bare descriptors. The unsafe code here takes over what the caller vouches for.

use std::os::fd::{FromRawFd, RawFd};

use super::File;

impl FromRawFd for File {
    unsafe fn from_raw_fd(fd: RawFd) -> Self {
        // SAFETY: the caller owns the descriptor, and hands it over.
        Self::from_std(unsafe { std::fs::File::from_raw_fd(fd) })
    }
}
