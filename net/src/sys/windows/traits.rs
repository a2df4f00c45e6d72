//! The conversions between this crate's types and sockets and handles.

use std::os::windows::io::{
    AsHandle, AsRawHandle, AsRawSocket, AsSocket, BorrowedHandle, BorrowedSocket, OwnedSocket,
    RawHandle, RawSocket,
};

use crate::{Async, OsEvent, TcpSocket};

/// Implements the conversions to descriptors, for a type with one method that borrows the owner of the descriptor and
/// one that takes it out.
macro_rules! into_descriptor {
    ($type:ty, $borrow:ident, $take:ident) => {
        impl std::os::windows::io::AsSocket for $type {
            fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
                std::os::windows::io::AsSocket::as_socket(self.$borrow())
            }
        }

        impl std::os::windows::io::AsRawSocket for $type {
            fn as_raw_socket(&self) -> std::os::windows::io::RawSocket {
                std::os::windows::io::AsRawSocket::as_raw_socket(self.$borrow())
            }
        }

        /// Leaves the socket non-blocking.
        impl From<$type> for std::os::windows::io::OwnedSocket {
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

        /// Makes the socket non-blocking and registers it with the current runtime.
        impl TryFrom<std::os::windows::io::OwnedSocket> for $type {
            type Error = std::io::Error;

            fn try_from(socket: std::os::windows::io::OwnedSocket) -> std::io::Result<Self> {
                Self::from_std(socket.into())
            }
        }
    };
}

pub(crate) use {descriptor_traits, into_descriptor};

impl<T: AsSocket> AsSocket for Async<T> {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        self.get_ref().as_socket()
    }
}

impl<T: AsRawSocket> AsRawSocket for Async<T> {
    fn as_raw_socket(&self) -> RawSocket {
        self.get_ref().as_raw_socket()
    }
}

/// Leaves the socket non-blocking.
impl<T: Into<OwnedSocket>> From<Async<T>> for OwnedSocket {
    fn from(this: Async<T>) -> Self {
        this.into_inner().into()
    }
}

/// Returns the handle for foreign code that signals the event with `SetEvent`.
impl AsHandle for OsEvent {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.event().as_handle()
    }
}

impl AsRawHandle for OsEvent {
    fn as_raw_handle(&self) -> RawHandle {
        self.as_handle().as_raw_handle()
    }
}

into_descriptor!(TcpSocket, std, into_socket);
