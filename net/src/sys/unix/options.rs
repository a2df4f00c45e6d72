//! Socket options without methods in std.

use std::io;
use std::mem::size_of;
use std::os::fd::AsRawFd;
use std::time::Duration;

use libc::{c_int, socklen_t};

use super::{Descriptor, check};

/// A socket option whose value is a number.
#[derive(Clone, Copy)]
pub(crate) struct SocketOption {
    pub(super) level: c_int,
    pub(super) name: c_int,
}

impl SocketOption {
    pub(super) const fn of_socket(name: c_int) -> Self {
        Self { level: libc::SOL_SOCKET, name }
    }
}

pub(crate) mod option {
    use super::SocketOption;

    const fn of_socket(name: libc::c_int) -> SocketOption {
        SocketOption::of_socket(name)
    }

    #[cfg(not(target_os = "openbsd"))]
    const fn of_tcp(name: libc::c_int) -> Option<SocketOption> {
        Some(SocketOption { level: libc::IPPROTO_TCP, name })
    }

    pub(crate) const REUSE_ADDRESS: SocketOption = of_socket(libc::SO_REUSEADDR);
    /// FreeBSD distributes connections only with this option; with the older one the last socket gets them all.
    #[cfg(target_os = "freebsd")]
    pub(crate) const REUSE_PORT: SocketOption = of_socket(libc::SO_REUSEPORT_LB);
    #[cfg(not(target_os = "freebsd"))]
    pub(crate) const REUSE_PORT: SocketOption = of_socket(libc::SO_REUSEPORT);
    pub(crate) const SEND_BUFFER: SocketOption = of_socket(libc::SO_SNDBUF);
    pub(crate) const RECV_BUFFER: SocketOption = of_socket(libc::SO_RCVBUF);
    pub(crate) const KEEPALIVE: SocketOption = of_socket(libc::SO_KEEPALIVE);
    pub(crate) const TOS_V4: Option<SocketOption> =
        Some(SocketOption { level: libc::IPPROTO_IP, name: libc::IP_TOS });
    #[cfg(target_os = "linux")]
    pub(crate) const QUICK_ACK: Option<SocketOption> = of_tcp(libc::TCP_QUICKACK);
    #[cfg(not(target_os = "linux"))]
    pub(crate) const QUICK_ACK: Option<SocketOption> = None;

    // OpenBSD has these only for all sockets together.
    #[cfg(target_os = "openbsd")]
    mod keepalive {
        use super::SocketOption;

        pub(crate) const KEEPALIVE_IDLE: Option<SocketOption> = None;
        pub(crate) const KEEPALIVE_INTERVAL: Option<SocketOption> = None;
        pub(crate) const KEEPALIVE_RETRIES: Option<SocketOption> = None;
    }
    #[cfg(not(target_os = "openbsd"))]
    mod keepalive {
        use super::{SocketOption, of_tcp};

        /// In seconds.
        #[cfg(target_os = "macos")]
        pub(crate) const KEEPALIVE_IDLE: Option<SocketOption> = of_tcp(libc::TCP_KEEPALIVE);
        /// In seconds.
        #[cfg(not(target_os = "macos"))]
        pub(crate) const KEEPALIVE_IDLE: Option<SocketOption> = of_tcp(libc::TCP_KEEPIDLE);
        /// In seconds.
        pub(crate) const KEEPALIVE_INTERVAL: Option<SocketOption> = of_tcp(libc::TCP_KEEPINTVL);
        pub(crate) const KEEPALIVE_RETRIES: Option<SocketOption> = of_tcp(libc::TCP_KEEPCNT);
    }
    pub(crate) use keepalive::{KEEPALIVE_IDLE, KEEPALIVE_INTERVAL, KEEPALIVE_RETRIES};
}

/// The types of option values: plain data, for which any bytes are valid.
pub(super) trait OptionValue: Copy {}
impl OptionValue for c_int {}
impl OptionValue for libc::linger {}
#[cfg(target_os = "linux")]
impl OptionValue for libc::ucred {}
#[cfg(target_os = "openbsd")]
impl OptionValue for libc::sockpeercred {}
#[cfg(target_os = "freebsd")]
impl OptionValue for libc::xucred {}
#[cfg(target_os = "netbsd")]
impl OptionValue for libc::unpcbid {}

pub(super) fn get<T: OptionValue>(
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

/// The option whose value is in seconds, which has another name on macOS.
#[cfg(target_os = "macos")]
const LINGER: SocketOption = SocketOption::of_socket(libc::SO_LINGER_SEC);
#[cfg(not(target_os = "macos"))]
const LINGER: SocketOption = SocketOption::of_socket(libc::SO_LINGER);

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

/// The option whose value is the name of an interface. Linux truncates long names.
#[cfg(target_os = "linux")]
const DEVICE: SocketOption = SocketOption::of_socket(libc::SO_BINDTODEVICE);

#[cfg(target_os = "linux")]
pub(crate) fn device(socket: Descriptor<'_>) -> io::Result<Option<Vec<u8>>> {
    let mut name = [0_u8; libc::IFNAMSIZ];
    let mut len = name.len() as socklen_t;
    let pointer = name.as_mut_ptr().cast();
    let SocketOption { level, name: option } = DEVICE;
    // SAFETY: pointer and length describe `name`.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, pointer, &mut len) })?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or(&[]);
    Ok((!name.is_empty()).then(|| name.to_vec()))
}

#[cfg(target_os = "linux")]
pub(crate) fn bind_device(socket: Descriptor<'_>, interface: Option<&[u8]>) -> io::Result<()> {
    let name = interface.unwrap_or(&[]);
    let SocketOption { level, name: option } = DEVICE;
    let (pointer, len) = (name.as_ptr().cast(), name.len() as socklen_t);
    // SAFETY: pointer and length describe `name`, which the OS copies.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, pointer, len) })?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn device(_socket: Descriptor<'_>) -> io::Result<Option<Vec<u8>>> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn bind_device(_socket: Descriptor<'_>, _interface: Option<&[u8]>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
