//! File descriptors: as numbers, as sockets with a peer, and as the form of a manual loop.

use std::mem::ManuallyDrop;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, RawFd};

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

/// Returns the number by which programs know a descriptor.
pub(crate) fn number(fd: RawFd) -> u32 {
    fd as u32
}

/// Returns the address of the peer, if the number is that of a connected socket at this moment.
pub(crate) fn peer(number: u32) -> Option<SocketAddr> {
    let fd = RawFd::try_from(number).ok()?;
    // SAFETY: it is not owned, so it is never closed. It is only asked for its peer. If the number means nothing any
    // more, or something other than a socket, the OS says so.
    let socket = ManuallyDrop::new(unsafe { UdpSocket::from_raw_fd(fd) });
    socket.peer_addr().ok()
}
