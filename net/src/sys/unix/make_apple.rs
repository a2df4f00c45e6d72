//! Creates descriptors that are non-blocking and closed on `exec`, and keeps sends from raising signals, on systems
//! whose calls have no flags for that: further calls are needed.
//!
//! If the process forks and executes a program between two of these calls, that program inherits the descriptor. macOS
//! has no way to prevent it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use libc::c_int;

use super::address::RawAddress;
use super::options::{SocketOption, set_option};
use super::{Descriptor, check, own, set_nonblocking};

/// The flags of sends. An option of the socket stops signals.
pub(super) const SEND_FLAGS: c_int = 0;

/// Stops a socket from raising a signal if the peer has closed it.
pub(super) fn silence(socket: Descriptor<'_>) {
    // Fails only for descriptors that are not sockets, which raise signals.
    let _ = set_option(socket, SocketOption::of_socket(libc::SO_NOSIGPIPE), 1);
}

pub(super) fn socket(family: c_int, kind: c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointers.
    let socket = check(unsafe { libc::socket(family, kind, 0) }).map(own)?;
    finish(&socket)?;
    Ok(socket)
}

/// Accepts a connection, and sets `address` to that of the peer.
pub(super) fn accept(listener: Descriptor<'_>, address: &mut RawAddress) -> io::Result<OwnedFd> {
    let (pointer, len) = address.as_mut_parts();
    // SAFETY: pointer and length describe `address`, which outlives the call and has room for any
    // address.
    let socket = check(unsafe { libc::accept(listener.as_raw_fd(), pointer, len) }).map(own)?;
    finish(&socket)?;
    Ok(socket)
}

/// Creates a pipe, and returns its reading end and its writing end.
pub(super) fn pipe() -> io::Result<[OwnedFd; 2]> {
    let mut ends: [c_int; 2] = [-1; 2];
    // SAFETY: there is room for two descriptors.
    check(unsafe { libc::pipe(ends.as_mut_ptr()) })?;
    let ends = ends.map(own);
    for end in &ends {
        finish(end)?;
    }
    Ok(ends)
}

fn finish(descriptor: &OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor is open; F_SETFD takes a number.
    check(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) })?;
    set_nonblocking(descriptor.as_fd())
}
