//! The credentials of the peer of a local socket, which every system reports in its own way.

use std::io;

use super::Descriptor;
use super::options::{SocketOption, get};
use crate::unix::Credentials;

/// Returns the credentials that the process at the other end of a local socket had when it connected.
#[cfg(any(target_os = "linux", target_os = "openbsd"))]
pub(crate) fn peer_credentials(socket: Descriptor<'_>) -> io::Result<Credentials> {
    #[cfg(target_os = "linux")]
    let empty = libc::ucred { pid: 0, uid: 0, gid: 0 };
    #[cfg(target_os = "openbsd")]
    let empty = libc::sockpeercred { pid: 0, uid: 0, gid: 0 };
    let value = get(socket, SocketOption::of_socket(libc::SO_PEERCRED), empty)?;
    Ok(Credentials::new(value.uid, value.gid, (value.pid > 0).then_some(value.pid)))
}

/// Returns the credentials that the process at the other end of a local socket had when it connected.
#[cfg(not(any(target_os = "linux", target_os = "openbsd")))]
pub(crate) fn peer_credentials(socket: Descriptor<'_>) -> io::Result<Credentials> {
    use std::os::fd::AsRawFd;

    use super::check;

    let (mut uid, mut gid) = (0, 0);
    // SAFETY: both point to variables of the right types.
    check(unsafe { libc::getpeereid(socket.as_raw_fd(), &mut uid, &mut gid) })?;
    Ok(Credentials::new(uid, gid, peer_process(socket).filter(|&pid| pid > 0)))
}

#[cfg(target_os = "macos")]
fn peer_process(socket: Descriptor<'_>) -> Option<i32> {
    get(socket, SocketOption { level: libc::SOL_LOCAL, name: libc::LOCAL_PEERPID }, 0).ok()
}

#[cfg(target_os = "netbsd")]
fn peer_process(socket: Descriptor<'_>) -> Option<i32> {
    // The level of local sockets, for which libc has no name here.
    let option = SocketOption { level: 0, name: libc::LOCAL_PEEREID };
    let empty = libc::unpcbid { unp_pid: 0, unp_euid: 0, unp_egid: 0 };
    get(socket, option, empty).ok().map(|id| id.unp_pid)
}

#[cfg(target_os = "freebsd")]
fn peer_process(socket: Descriptor<'_>) -> Option<i32> {
    let option = SocketOption { level: libc::SOL_LOCAL, name: libc::LOCAL_PEERCRED };
    // SAFETY: it is made of numbers and a pointer that is never followed; zeroes are valid for all of these.
    let value: libc::xucred = get(socket, option, unsafe { std::mem::zeroed() }).ok()?;
    // SAFETY: the field is a number, for which any bytes are valid. Before FreeBSD 13 they are zeroes.
    Some(unsafe { value.cr_pid__c_anonymous_union.cr_pid })
}
