//! The descriptors of what is wrapped.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use crate::{Compat, Io};

impl<T: AsFd> AsFd for Io<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get_ref().as_fd()
    }
}

impl<T: AsRawFd> AsRawFd for Io<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

impl<T: AsFd> AsFd for Compat<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get_ref().as_fd()
    }
}

impl<T: AsRawFd> AsRawFd for Compat<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}
