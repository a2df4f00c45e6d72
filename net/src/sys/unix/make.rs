//! Creates descriptors that are non-blocking and closed on `exec`, and keeps sends from raising signals, on systems
//! whose calls have flags for that.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use libc::c_int;

use super::address::RawAddress;
use super::{Descriptor, check, own};

/// The flags of sends: no signal if the peer has closed the socket.
pub(super) const SEND_FLAGS: c_int = libc::MSG_NOSIGNAL;

/// Does nothing: a flag of each send stops signals.
pub(super) fn silence(_socket: Descriptor<'_>) {}

pub(super) fn socket(family: c_int, kind: c_int) -> io::Result<OwnedFd> {
    let kind = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes no pointers.
    check(unsafe { libc::socket(family, kind, 0) }).map(own)
}

/// Accepts a connection, and sets `address` to that of the peer.
pub(super) fn accept(listener: Descriptor<'_>, address: &mut RawAddress) -> io::Result<OwnedFd> {
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let (pointer, len) = address.as_mut_parts();
    // SAFETY: pointer and length describe `address`, which outlives the call and has room for any
    // address.
    check(unsafe { libc::accept4(listener.as_raw_fd(), pointer, len, flags) }).map(own)
}

/// Creates a pipe, and returns its reading end and its writing end.
pub(super) fn pipe() -> io::Result<[OwnedFd; 2]> {
    let mut ends: [c_int; 2] = [-1; 2];
    // SAFETY: there is room for two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_NONBLOCK | libc::O_CLOEXEC) })?;
    Ok(ends.map(own))
}
