//! Sockets and pipes as Unix has them.

mod address;
mod event;
mod options;
mod traits;

use std::fs::File;
use std::io::{self, IoSlice};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use libc::c_int;

use address::RawAddress;

pub(crate) use event::Event;
pub(crate) use options::{
    SocketOption, get_option, linger, option, peer_credentials, set_linger, set_option,
};
pub(crate) use std::os::fd::AsFd as AsDescriptor;
pub(crate) use std::os::unix::net as local;
pub(crate) use traits::descriptor_traits;

pub(crate) type Descriptor<'a> = BorrowedFd<'a>;

pub(crate) fn descriptor<T: AsDescriptor + ?Sized>(source: &T) -> Descriptor<'_> {
    source.as_fd()
}

/// Turns the `-1` of a system call into its error.
fn check(result: c_int) -> io::Result<c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn check_len(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Repeats a call for as long as signals interrupt it.
fn uninterrupted(mut call: impl FnMut() -> c_int) -> io::Result<c_int> {
    loop {
        match check(call()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Takes the descriptor that a call has just made.
fn own(fd: c_int) -> OwnedFd {
    // SAFETY: callers pass what a successful call returned as a new descriptor, and nobody else
    // has it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Says more than "Operation not permitted" of a descriptor that has no readiness.
pub(crate) fn explain(error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(libc::EPERM) {
        return error;
    }
    let message = "the OS cannot tell when this descriptor is ready (a regular file or a directory?): \
                   use it from `spawn_blocking`";
    io::Error::new(error.kind(), message)
}

pub(crate) fn set_nonblocking(descriptor: Descriptor<'_>) -> io::Result<()> {
    let fd = descriptor.as_raw_fd();
    // SAFETY: the descriptor is open for as long as it is borrowed; F_GETFL takes no pointer.
    let flags = check(unsafe { libc::fcntl(fd, libc::F_GETFL) })?;
    if flags & libc::O_NONBLOCK == 0 {
        // SAFETY: as above; F_SETFL takes a number.
        check(unsafe { libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) })?;
    }
    Ok(())
}

fn socket(family: c_int, kind: c_int) -> io::Result<OwnedFd> {
    let kind = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes no pointers.
    check(unsafe { libc::socket(family, kind, 0) }).map(own)
}

/// An unconnected TCP socket, for IPv4 or IPv6.
pub(crate) fn tcp_socket(v6: bool) -> io::Result<TcpStream> {
    let family = if v6 { libc::AF_INET6 } else { libc::AF_INET };
    socket(family, libc::SOCK_STREAM).map(TcpStream::from)
}

pub(crate) fn bind(socket: Descriptor<'_>, address: &SocketAddr) -> io::Result<()> {
    let address = RawAddress::from_inet(address);
    // SAFETY: pointer and length describe `address`, which outlives the call.
    check(unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr(), address.len()) })?;
    Ok(())
}

pub(crate) fn listen(socket: Descriptor<'_>, backlog: u32) -> io::Result<()> {
    let backlog = c_int::try_from(backlog).unwrap_or(c_int::MAX);
    // SAFETY: takes no pointers.
    check(unsafe { libc::listen(socket.as_raw_fd(), backlog) })?;
    Ok(())
}

/// Begins to connect. When the socket gets writable the attempt has ended, one way or the other.
pub(crate) fn start_connect(socket: Descriptor<'_>, address: &SocketAddr) -> io::Result<()> {
    match connect(socket, &RawAddress::from_inet(address)) {
        Err(error) if is_under_way(&error) => Ok(()),
        result => result,
    }
}

fn connect(socket: Descriptor<'_>, address: &RawAddress) -> io::Result<()> {
    // SAFETY: pointer and length describe `address`, which outlives the call.
    check(unsafe { libc::connect(socket.as_raw_fd(), address.as_ptr(), address.len()) })?;
    Ok(())
}

/// An interrupted `connect` goes on by itself; calling it again would fail.
fn is_under_way(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EINTR))
}

/// Takes a connection, non-blocking from the start, which saves a call against std's `accept`.
pub(crate) fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let mut address = RawAddress::empty();
    let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    let (pointer, len) = address.as_mut_parts();
    // SAFETY: pointer and length describe `address`, which outlives the call and has room for any
    // address.
    let stream = check(unsafe { libc::accept4(listener.as_raw_fd(), pointer, len, flags) })
        .map(own)
        .map(TcpStream::from)?;
    Ok((stream, address.to_inet()?))
}

/// Connects to a local socket, which never takes time: the listener has room or has not.
pub(crate) fn connect_local(address: &local::SocketAddr) -> io::Result<local::UnixStream> {
    let address = RawAddress::from_local(address)?;
    let socket = socket(libc::AF_UNIX, libc::SOCK_STREAM)?;
    connect(descriptor(&socket), &address)?;
    Ok(socket.into())
}

/// Sends to the peer of a connected socket. If that has gone: `EPIPE`, and no signal, whatever the
/// process does about signals.
pub(crate) fn send(socket: Descriptor<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: pointer and length describe `bytes`.
    check_len(unsafe {
        libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL)
    })
}

/// As [`send`], from several buffers; only so many are looked at as the OS takes at a time.
pub(crate) fn send_vectored(socket: Descriptor<'_>, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    let count = buffers.len().min(libc::UIO_MAXIOV as usize);
    // SAFETY: a message of zeroes is a valid one: no name, no buffers, no control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    // std promises that `IoSlice` is laid out as `iovec`; `sendmsg` only reads them.
    message.msg_iov = buffers.as_ptr().cast::<libc::iovec>().cast_mut();
    message.msg_iovlen = count as _;
    // SAFETY: `message` names `count` buffers that live as long as `buffers`.
    check_len(unsafe {
        libc::sendmsg(socket.as_raw_fd(), ptr::from_ref(&message), libc::MSG_NOSIGNAL)
    })
}

/// A pipe, both ends non-blocking: what is written to the second is read from the first.
pub(crate) fn pipe() -> io::Result<(File, File)> {
    let mut ends: [c_int; 2] = [-1; 2];
    // SAFETY: there is room for two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_NONBLOCK | libc::O_CLOEXEC) })?;
    let [reader, writer] = ends.map(own).map(File::from);
    Ok((reader, writer))
}

/// The type of a socket that has begun to listen.
pub(crate) fn into_listener(socket: TcpStream) -> TcpListener {
    OwnedFd::from(socket).into()
}
