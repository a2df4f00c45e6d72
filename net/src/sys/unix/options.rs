//! Socket options that std has no methods for.

use std::io;
use std::mem::size_of;
use std::os::fd::AsRawFd;
use std::time::Duration;

use libc::{c_int, socklen_t};

use super::{Descriptor, check};
use crate::unix::Credentials;

/// A socket option with a number for its value.
#[derive(Clone, Copy)]
pub(crate) struct SocketOption {
    level: c_int,
    name: c_int,
}

pub(crate) mod option {
    use super::SocketOption;

    const fn of_socket(name: libc::c_int) -> SocketOption {
        SocketOption { level: libc::SOL_SOCKET, name }
    }

    const fn of_tcp(name: libc::c_int) -> SocketOption {
        SocketOption { level: libc::IPPROTO_TCP, name }
    }

    pub(crate) const REUSE_ADDRESS: SocketOption = of_socket(libc::SO_REUSEADDR);
    pub(crate) const REUSE_PORT: SocketOption = of_socket(libc::SO_REUSEPORT);
    pub(crate) const SEND_BUFFER: SocketOption = of_socket(libc::SO_SNDBUF);
    pub(crate) const RECV_BUFFER: SocketOption = of_socket(libc::SO_RCVBUF);
    pub(crate) const KEEPALIVE: SocketOption = of_socket(libc::SO_KEEPALIVE);
    /// In seconds.
    pub(crate) const KEEPALIVE_IDLE: SocketOption = of_tcp(libc::TCP_KEEPIDLE);
    /// In seconds.
    pub(crate) const KEEPALIVE_INTERVAL: SocketOption = of_tcp(libc::TCP_KEEPINTVL);
    pub(crate) const KEEPALIVE_RETRIES: SocketOption = of_tcp(libc::TCP_KEEPCNT);
}

/// Types of option values: plain data, any bytes of which are a value.
trait OptionValue: Copy {}
impl OptionValue for c_int {}
impl OptionValue for libc::linger {}
impl OptionValue for libc::ucred {}

fn get<T: OptionValue>(
    socket: Descriptor<'_>,
    SocketOption { level, name }: SocketOption,
    mut value: T,
) -> io::Result<T> {
    let mut len = size_of::<T>() as socklen_t;
    let pointer = std::ptr::from_mut(&mut value).cast();
    // SAFETY: pointer and length describe `value`, which may hold any bytes.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, pointer, &mut len) })?;
    Ok(value)
}

fn set<T: OptionValue>(
    socket: Descriptor<'_>,
    SocketOption { level, name }: SocketOption,
    value: T,
) -> io::Result<()> {
    let len = size_of::<T>() as socklen_t;
    let pointer = std::ptr::from_ref(&value).cast();
    // SAFETY: pointer and length describe `value`.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, pointer, len) })?;
    Ok(())
}

pub(crate) fn get_option(socket: Descriptor<'_>, option: SocketOption) -> io::Result<i32> {
    get(socket, option, 0)
}

pub(crate) fn set_option(
    socket: Descriptor<'_>,
    option: SocketOption,
    value: i32,
) -> io::Result<()> {
    set(socket, option, value)
}

const LINGER: SocketOption = SocketOption { level: libc::SOL_SOCKET, name: libc::SO_LINGER };

pub(crate) fn linger(socket: Descriptor<'_>) -> io::Result<Option<Duration>> {
    let value = get(socket, LINGER, libc::linger { l_onoff: 0, l_linger: 0 })?;
    let seconds = u64::try_from(value.l_linger).unwrap_or(0);
    Ok((value.l_onoff != 0).then_some(Duration::from_secs(seconds)))
}

pub(crate) fn set_linger(socket: Descriptor<'_>, linger: Option<Duration>) -> io::Result<()> {
    let seconds = linger.unwrap_or_default().as_secs();
    let l_linger = c_int::try_from(seconds).unwrap_or(c_int::MAX);
    set(socket, LINGER, libc::linger { l_onoff: linger.is_some().into(), l_linger })
}

/// Who the process at the other end of a local socket belonged to when it connected.
pub(crate) fn peer_credentials(socket: Descriptor<'_>) -> io::Result<Credentials> {
    let option = SocketOption { level: libc::SOL_SOCKET, name: libc::SO_PEERCRED };
    let value = get(socket, option, libc::ucred { pid: 0, uid: 0, gid: 0 })?;
    Ok(Credentials::new(value.uid, value.gid, (value.pid > 0).then_some(value.pid)))
}
