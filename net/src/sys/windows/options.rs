//! Socket options without methods in std.

use std::io;
use std::time::Duration;

use windows_sys::Win32::Networking::WinSock as ws;

use super::{Descriptor, check, raw};

/// A socket option whose value is a number.
#[derive(Clone, Copy)]
pub(crate) struct SocketOption {
    level: i32,
    name: i32,
}

pub(crate) mod option {
    use super::{SocketOption, ws};

    const fn of_socket(name: i32) -> SocketOption {
        SocketOption { level: ws::SOL_SOCKET, name }
    }

    const fn of_tcp(name: i32) -> Option<SocketOption> {
        Some(SocketOption { level: ws::IPPROTO_TCP, name })
    }

    pub(crate) const REUSE_ADDRESS: SocketOption = of_socket(ws::SO_REUSEADDR);
    pub(crate) const SEND_BUFFER: SocketOption = of_socket(ws::SO_SNDBUF);
    pub(crate) const RECV_BUFFER: SocketOption = of_socket(ws::SO_RCVBUF);
    pub(crate) const KEEPALIVE: SocketOption = of_socket(ws::SO_KEEPALIVE);
    /// The OS ignores it.
    pub(crate) const TOS_V4: Option<SocketOption> = None;
    pub(crate) const QUICK_ACK: Option<SocketOption> = None;
    /// In seconds.
    pub(crate) const KEEPALIVE_IDLE: Option<SocketOption> = of_tcp(ws::TCP_KEEPIDLE);
    /// In seconds.
    pub(crate) const KEEPALIVE_INTERVAL: Option<SocketOption> = of_tcp(ws::TCP_KEEPINTVL);
    pub(crate) const KEEPALIVE_RETRIES: Option<SocketOption> = of_tcp(ws::TCP_KEEPCNT);
}

/// The types of option values: plain data, for which any bytes are valid.
trait OptionValue: Copy {}
impl OptionValue for i32 {}
impl OptionValue for ws::LINGER {}

fn get<T: OptionValue>(
    socket: Descriptor<'_>,
    SocketOption { level, name }: SocketOption,
    mut value: T,
) -> io::Result<T> {
    let mut len = size_of::<T>() as i32;
    let pointer = std::ptr::from_mut(&mut value).cast();
    // SAFETY: pointer and length describe `value`, which may hold any bytes.
    check(unsafe { ws::getsockopt(raw(socket), level, name, pointer, &mut len) })?;
    Ok(value)
}

fn set<T: OptionValue>(
    socket: Descriptor<'_>,
    SocketOption { level, name }: SocketOption,
    value: T,
) -> io::Result<()> {
    let len = size_of::<T>() as i32;
    let pointer = std::ptr::from_ref(&value).cast();
    // SAFETY: pointer and length describe `value`.
    check(unsafe { ws::setsockopt(raw(socket), level, name, pointer, len) })
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

const LINGER: SocketOption = SocketOption { level: ws::SOL_SOCKET, name: ws::SO_LINGER };

pub(crate) fn linger(socket: Descriptor<'_>) -> io::Result<Option<Duration>> {
    let value = get(socket, LINGER, ws::LINGER { l_onoff: 0, l_linger: 0 })?;
    Ok((value.l_onoff != 0).then_some(Duration::from_secs(value.l_linger.into())))
}

pub(crate) fn set_linger(socket: Descriptor<'_>, linger: Option<Duration>) -> io::Result<()> {
    let seconds = linger.unwrap_or_default().as_secs();
    let l_linger = u16::try_from(seconds).unwrap_or(u16::MAX);
    set(socket, LINGER, ws::LINGER { l_onoff: linger.is_some().into(), l_linger })
}

pub(crate) fn device(_socket: Descriptor<'_>) -> io::Result<Option<Vec<u8>>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn bind_device(_socket: Descriptor<'_>, _interface: Option<&[u8]>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
