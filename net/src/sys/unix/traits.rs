//! The conversions between this crate's types and descriptors.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use crate::{Async, OsEvent, TcpSocket};

/// Implements the conversions to descriptors, for a type with one method that borrows the owner of the descriptor and
/// one that takes it out.
macro_rules! into_descriptor {
    ($type:ty, $borrow:ident, $take:ident) => {
        impl std::os::fd::AsFd for $type {
            fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
                std::os::fd::AsFd::as_fd(self.$borrow())
            }
        }

        impl std::os::fd::AsRawFd for $type {
            fn as_raw_fd(&self) -> std::os::fd::RawFd {
                std::os::fd::AsRawFd::as_raw_fd(self.$borrow())
            }
        }

        /// Leaves the descriptor non-blocking.
        impl From<$type> for std::os::fd::OwnedFd {
            fn from(this: $type) -> Self {
                this.$take().into()
            }
        }
    };
}

/// Implements the conversions, for a type with a method `io()` that returns its `Async`, a function `from_std`, and a
/// method `into_inner`.
macro_rules! descriptor_traits {
    ($type:ty) => {
        $crate::sys::into_descriptor!($type, io, into_inner);

        /// Makes the descriptor non-blocking and registers it with the current runtime.
        impl TryFrom<std::os::fd::OwnedFd> for $type {
            type Error = std::io::Error;

            fn try_from(descriptor: std::os::fd::OwnedFd) -> std::io::Result<Self> {
                Self::from_std(descriptor.into())
            }
        }
    };
}

pub(crate) use {descriptor_traits, into_descriptor};

impl<T: AsFd> AsFd for Async<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.get_ref().as_fd()
    }
}

impl<T: AsRawFd> AsRawFd for Async<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

/// Leaves the descriptor non-blocking.
impl<T: Into<OwnedFd>> From<Async<T>> for OwnedFd {
    fn from(this: Async<T>) -> Self {
        this.into_inner().into()
    }
}

/// Returns the descriptor for foreign code that signals the event: a `write` of an eight-byte number above zero sets
/// it. On Linux, foreign code can also wait for the signal with `poll` and take it with `read`. On other systems it
/// is the writing end of a pipe.
impl AsFd for OsEvent {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event().setter()
    }
}

impl AsRawFd for OsEvent {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

into_descriptor!(TcpSocket, std, into_socket);
