//! Sockets and pipes on Unix.

mod address;
mod credentials;
#[cfg_attr(any(not(target_os = "linux"), windlass_poller = "kqueue"), path = "unix/event_pipe.rs")]
mod event;
#[cfg_attr(target_os = "macos", path = "unix/make_apple.rs")]
mod make;
mod options;
#[cfg_attr(not(target_os = "linux"), path = "unix/refuse_none.rs")]
mod refuse;
mod traits;
mod waits;
#[cfg_attr(any(not(target_os = "linux"), windlass_poller = "kqueue"), path = "unix/wall_kqueue.rs")]
mod wall;
mod wall_wait;

use crate::policy::COPIED_BYTES;
use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use libc::c_int;

use address::RawAddress;

pub(crate) use credentials::peer_credentials;
pub(crate) use event::Event;
pub(crate) use options::{
    SocketOption, bind_device, device, get_option, linger, option, set_linger, set_option,
};
pub(crate) use refuse::{refuse_new, refuse_new_local};
pub(crate) use std::os::fd::AsFd as AsDescriptor;
pub(crate) use std::os::unix::net as local;
pub(crate) use traits::{descriptor_traits, into_descriptor};
pub(crate) use waits::EventWaits;
use wall::WallClock;
pub(crate) use wall_wait::WallWait;

/// A socket that accepted fewer bytes than it was given is full, and reports when it has room.
pub(crate) const SHORT_WRITE_FILLS: bool = true;

/// The OS reports a socket that is not connecting yet as hung up, so it is registered after the attempt has started.
pub(crate) const CONNECTS_REGISTERED: bool = false;

/// A listener is reported when connections arrive, but not while some are left in the queue.
pub(crate) const CONNECTIONS_REPORTED_ONE_BY_ONE: bool = false;

/// Without the option, an address is in use until the last old connection has timed out.
pub(crate) const REUSES_ADDRESSES: bool = true;

pub(crate) type Descriptor<'a> = BorrowedFd<'a>;

pub(crate) fn descriptor<T: AsDescriptor + ?Sized>(source: &T) -> Descriptor<'_> {
    source.as_fd()
}

/// Turns a system call's `-1` into its error.
fn check(result: c_int) -> io::Result<c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn check_len(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Waits until a descriptor is readable, for at most this many milliseconds, or without a limit. A signal may end the
/// wait early.
fn is_readable(fd: BorrowedFd<'_>, millis: Option<u32>) -> io::Result<bool> {
    let timeout = millis.map_or(-1, |millis| millis.try_into().unwrap_or(c_int::MAX));
    let mut entry = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: there is one entry.
    match check(unsafe { libc::poll(&mut entry, 1, timeout) }) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(false),
        result => result.map(|count| count > 0),
    }
}

/// Takes ownership of a descriptor that a call has just created.
fn own(fd: c_int) -> OwnedFd {
    // SAFETY: callers pass what a successful call returned as a new descriptor, and nobody else
    // has it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Replaces "Operation not permitted" by a clearer error, for a descriptor that can't be polled.
pub(crate) fn explain(error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(libc::EPERM) {
        return error;
    }
    let message = "the OS cannot tell when this descriptor is ready (a regular file or a directory?): \
                   use it from `spawn_blocking`";
    io::Error::new(error.kind(), message)
}

/// Makes a foreign descriptor non-blocking, and stops a socket from raising signals.
pub(crate) fn set_nonblocking(descriptor: Descriptor<'_>) -> io::Result<()> {
    make::silence(descriptor);
    let fd = descriptor.as_raw_fd();
    // SAFETY: the descriptor is open for as long as it is borrowed; F_GETFL takes no pointer.
    let flags = check(unsafe { libc::fcntl(fd, libc::F_GETFL) })?;
    if flags & libc::O_NONBLOCK == 0 {
        // SAFETY: as above; F_SETFL takes a number.
        check(unsafe { libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) })?;
    }
    Ok(())
}

/// Puts a descriptor back into blocking mode, which other programs expect of the descriptors that they inherit.
pub(crate) fn set_blocking(descriptor: Descriptor<'_>) -> io::Result<()> {
    let fd = descriptor.as_raw_fd();
    // SAFETY: the descriptor is open for as long as it is borrowed; F_GETFL takes no pointer.
    let flags = check(unsafe { libc::fcntl(fd, libc::F_GETFL) })?;
    // SAFETY: as above; F_SETFL takes a number.
    check(unsafe { libc::fcntl(fd, libc::F_SETFL, flags & !libc::O_NONBLOCK) })?;
    Ok(())
}

/// Creates an unconnected TCP socket, for IPv4 or IPv6.
pub(crate) fn tcp_socket(v6: bool) -> io::Result<TcpStream> {
    let family = if v6 { libc::AF_INET6 } else { libc::AF_INET };
    make::socket(family, libc::SOCK_STREAM).map(TcpStream::from)
}

pub(crate) fn bind(socket: Descriptor<'_>, address: &SocketAddr) -> io::Result<()> {
    bind_raw(socket, &RawAddress::from_inet(address))
}

fn bind_raw(socket: Descriptor<'_>, address: &RawAddress) -> io::Result<()> {
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

/// Starts to connect. When the socket becomes writable, the attempt has succeeded or failed.
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

/// Returns true if the attempt continues by itself, as an interrupted one does. Another call would fail.
fn is_under_way(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EINTR))
}

/// Accepts a connection that is non-blocking from the start, which saves a call compared with std's `accept`.
pub(crate) fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    let mut address = RawAddress::empty();
    let stream = make::accept(descriptor(listener), &mut address).map(TcpStream::from)?;
    Ok((stream, address.to_peer()?))
}

/// Connects to a local socket, which never waits: the listener has room, or refuses.
pub(crate) fn connect_local(socket: Descriptor<'_>, address: &local::SocketAddr) -> io::Result<()> {
    connect(socket, &RawAddress::from_local(address)?)
}

/// Creates a local socket for streams.
pub(crate) fn local_stream() -> io::Result<OwnedFd> {
    make::socket(libc::AF_UNIX, libc::SOCK_STREAM)
}

/// Creates a local socket for datagrams.
pub(crate) fn local_datagram() -> io::Result<OwnedFd> {
    make::socket(libc::AF_UNIX, libc::SOCK_DGRAM)
}

pub(crate) fn bind_local(socket: Descriptor<'_>, address: &local::SocketAddr) -> io::Result<()> {
    bind_raw(socket, &RawAddress::from_local(address)?)
}

/// Sends to the peer of a connected socket. If the peer has closed it, returns `EPIPE` and raises no signal, whatever
/// the process's signal settings are.
pub(crate) fn send(socket: Descriptor<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: pointer and length describe `bytes`.
    check_len(unsafe {
        libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), make::SEND_FLAGS)
    })
}

/// Replaces the error of a local receiver that has no room by `WouldBlock`, where the OS says that buffers are lacking.
/// On Linux they are.
pub(crate) fn no_room(error: io::Error) -> io::Error {
    let is_full = cfg!(not(target_os = "linux")) && error.raw_os_error() == Some(libc::ENOBUFS);
    if is_full { io::ErrorKind::WouldBlock.into() } else { error }
}

/// The number of buffers that every system accepts; more is an error on some.
const MOST_BUFFERS: usize = 1024;

/// Sends from several buffers, like [`send`]. Buffers beyond the number that the OS accepts are ignored.
pub(crate) fn send_vectored(socket: Descriptor<'_>, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    if let [buffer] = buffers {
        return send(socket, buffer);
    }
    let mut small = [MaybeUninit::uninit(); COPIED_BYTES];
    match copied(buffers, &mut small) {
        Some(bytes) => send(socket, bytes),
        None => send_message(socket, buffers),
    }
}

/// Returns the bytes of all buffers in one, if there is room.
fn copied<'a>(buffers: &[IoSlice<'_>], room: &'a mut [MaybeUninit<u8>]) -> Option<&'a [u8]> {
    let mut length = 0;
    for buffer in buffers {
        let end = buffer.len().checked_add(length)?;
        let part = room.get_mut(length..end)?;
        // SAFETY: `part` is as long as the buffer, and they don't overlap, because it is borrowed alone.
        unsafe { ptr::copy_nonoverlapping(buffer.as_ptr(), part.as_mut_ptr().cast(), part.len()) };
        length = end;
    }
    let bytes = &room[..length];
    // SAFETY: `MaybeUninit<u8>` is laid out as `u8`, and the buffers were copied into these bytes, one after the other.
    Some(unsafe { &*(ptr::from_ref(bytes) as *const [u8]) })
}

fn send_message(socket: Descriptor<'_>, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    let count = buffers.len().min(MOST_BUFFERS);
    // SAFETY: a message of zeroes is a valid one: no name, no buffers, no control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    // std promises that `IoSlice` is laid out as `iovec`; `sendmsg` only reads them.
    message.msg_iov = buffers.as_ptr().cast::<libc::iovec>().cast_mut();
    message.msg_iovlen = count as _;
    // SAFETY: `message` names `count` buffers that live as long as `buffers`.
    check_len(unsafe {
        libc::sendmsg(socket.as_raw_fd(), ptr::from_ref(&message), make::SEND_FLAGS)
    })
}

/// Receives from the peer of a connected socket, and returns the number of bytes at the start of `room`
/// that are initialised now.
pub(crate) fn recv_uninit(
    socket: Descriptor<'_>,
    room: &mut [MaybeUninit<u8>],
) -> io::Result<usize> {
    // SAFETY: pointer and length describe `room`, which the call only writes to.
    check_len(unsafe { libc::recv(socket.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), 0) })
}

/// Reads like [`recv_uninit`], from any descriptor.
pub(crate) fn read_uninit(
    descriptor: Descriptor<'_>,
    room: &mut [MaybeUninit<u8>],
) -> io::Result<usize> {
    // SAFETY: as above.
    check_len(unsafe { libc::read(descriptor.as_raw_fd(), room.as_mut_ptr().cast(), room.len()) })
}

/// Creates a pipe, with both ends non-blocking: the first is the reading end, the second the writing end.
pub(crate) fn pipe() -> io::Result<(File, File)> {
    let [reader, writer] = make::pipe()?.map(File::from);
    Ok((reader, writer))
}

/// Receives a datagram, or only peeks at it, and returns its length and sender. What does not fit is discarded.
pub(crate) fn recv_from(
    socket: &UdpSocket,
    bytes: &mut [u8],
    peek: bool,
) -> io::Result<(usize, SocketAddr)> {
    if peek { socket.peek_from(bytes) } else { socket.recv_from(bytes) }
}

/// Receives like [`recv_from`], and returns the number of bytes at the start of `room` that are initialised now.
pub(crate) fn recv_from_uninit(
    socket: &UdpSocket,
    room: &mut [MaybeUninit<u8>],
) -> io::Result<(usize, SocketAddr)> {
    let (start, len) = (room.as_mut_ptr().cast(), room.len());
    let mut from = RawAddress::empty();
    let (address, address_len) = from.as_mut_parts();
    // SAFETY: pointer and length describe `room`, which the call only writes to; there is room for the address, and its
    // length says how much.
    let received = check_len(unsafe {
        libc::recvfrom(socket.as_raw_fd(), start, len, 0, address, address_len)
    })?;
    Ok((received, from.to_inet()?))
}

/// Receives like [`recv_from`], without the sender.
pub(crate) fn recv(socket: &UdpSocket, bytes: &mut [u8], peek: bool) -> io::Result<usize> {
    if peek { socket.peek(bytes) } else { socket.recv(bytes) }
}

/// Converts a socket that listens into a listener.
pub(crate) fn into_listener(socket: TcpStream) -> TcpListener {
    OwnedFd::from(socket).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_buffers_is_a_lack_of_room_except_on_linux() {
        let kind = no_room(io::Error::from_raw_os_error(libc::ENOBUFS)).kind();
        assert_eq!(kind == io::ErrorKind::WouldBlock, cfg!(not(target_os = "linux")));
        let gone = no_room(io::Error::from_raw_os_error(libc::ECONNREFUSED));
        assert_eq!(gone.raw_os_error(), Some(libc::ECONNREFUSED));
    }
}
