//! Sockets on Windows: std's types, and WinSock where std has no function.

mod address;
mod event;
mod options;
mod traits;
mod wait;
mod wall_wait;

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::windows::io::{AsRawSocket, FromRawSocket, OwnedSocket, RawSocket};

use windows_sys::Win32::Networking::WinSock as ws;

use address::RawAddress;

pub(crate) use event::{Event, EventWaits};
pub(crate) use options::{
    SocketOption, bind_device, device, get_option, linger, option, set_linger, set_option,
};
pub(crate) use std::os::windows::io::AsSocket as AsDescriptor;
pub(crate) use traits::{descriptor_traits, into_descriptor};
pub use wait::WaitHandle;
pub(crate) use wall_wait::WallWait;

pub(crate) use windlass_runtime::io::Descriptor;

/// The OS reports a socket as writable again only after a send that found no room at all.
pub(crate) const SHORT_WRITE_FILLS: bool = false;

/// The option would let other processes take over the address, and old connections don't block it anyway.
pub(crate) const REUSES_ADDRESSES: bool = false;

/// While connections wait, each `accept` causes a report of the next one. Accepting once per report is what the OS's
/// documentation recommends, and saves the call that would find none.
pub(crate) const CONNECTIONS_REPORTED_ONE_BY_ONE: bool = true;

/// The outcome of an attempt to connect is reported only to a socket that was registered before.
pub(crate) const CONNECTS_REGISTERED: bool = true;

pub(crate) fn descriptor<T: AsDescriptor + ?Sized>(source: &T) -> Descriptor<'_> {
    Descriptor::Socket(source.as_socket())
}

/// Returns the number of the socket, which is the descriptor in this crate.
fn raw(descriptor: Descriptor<'_>) -> ws::SOCKET {
    match descriptor {
        Descriptor::Socket(socket) => socket.as_raw_socket() as ws::SOCKET,
        _ => ws::INVALID_SOCKET,
    }
}

/// Turns the result of a WinSock call into its error.
fn check(result: i32) -> io::Result<()> {
    if result == ws::SOCKET_ERROR { Err(last_error()) } else { Ok(()) }
}

fn last_error() -> io::Error {
    // SAFETY: takes nothing.
    io::Error::from_raw_os_error(unsafe { ws::WSAGetLastError() })
}

/// Returns the error unchanged: only sockets can be registered.
pub(crate) fn explain(error: io::Error) -> io::Error {
    error
}

pub(crate) fn set_nonblocking(descriptor: Descriptor<'_>) -> io::Result<()> {
    let mut on = 1;
    // SAFETY: there is a number to read.
    check(unsafe { ws::ioctlsocket(raw(descriptor), ws::FIONBIO, &mut on) })
}

/// Creates an unconnected TCP socket, for IPv4 or IPv6.
pub(crate) fn tcp_socket(v6: bool) -> io::Result<TcpStream> {
    start_winsock();
    let family = if v6 { ws::AF_INET6 } else { ws::AF_INET };
    let flags = ws::WSA_FLAG_OVERLAPPED | ws::WSA_FLAG_NO_HANDLE_INHERIT;
    // SAFETY: null is allowed, because the numbers specify the protocol.
    let socket = unsafe {
        ws::WSASocketW(family.into(), ws::SOCK_STREAM, ws::IPPROTO_TCP, std::ptr::null(), 0, flags)
    };
    if socket == ws::INVALID_SOCKET {
        return Err(last_error());
    }
    // SAFETY: the socket is new, and nobody else has it.
    let socket = unsafe { OwnedSocket::from_raw_socket(socket as RawSocket) };
    let socket = TcpStream::from(socket);
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Starts WinSock by creating one of std's sockets. Std never shuts WinSock down.
fn start_winsock() {
    static STARTED: std::sync::Once = std::sync::Once::new();
    STARTED.call_once(|| {
        // The result does not matter.
        drop(std::net::UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0)));
    });
}

pub(crate) fn bind(socket: Descriptor<'_>, address: &SocketAddr) -> io::Result<()> {
    let address = RawAddress::new(address);
    // SAFETY: pointer and length describe `address`, which outlives the call.
    check(unsafe { ws::bind(raw(socket), address.as_ptr(), address.len()) })
}

pub(crate) fn listen(socket: Descriptor<'_>, backlog: u32) -> io::Result<()> {
    let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
    // SAFETY: takes no pointers.
    check(unsafe { ws::listen(raw(socket), backlog) })
}

/// Starts to connect. When the socket becomes writable, the attempt has succeeded or failed.
pub(crate) fn start_connect(socket: Descriptor<'_>, address: &SocketAddr) -> io::Result<()> {
    let address = RawAddress::new(address);
    // SAFETY: pointer and length describe `address`, which outlives the call.
    match check(unsafe { ws::connect(raw(socket), address.as_ptr(), address.len()) }) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
        result => result,
    }
}

/// Returns false: the queue of a listener can't be closed to new connections.
pub(crate) fn refuse_new(_listener: Descriptor<'_>) -> io::Result<bool> {
    Ok(false)
}

/// Accepts a connection, which inherits the listener's non-blocking mode.
pub(crate) fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    listener.accept()
}

/// Sends to the peer of a connected socket.
pub(crate) fn send(socket: Descriptor<'_>, bytes: &[u8]) -> io::Result<usize> {
    let len = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    // SAFETY: there are at least `len` bytes.
    let sent = unsafe { ws::send(raw(socket), bytes.as_ptr(), len, 0) };
    usize::try_from(sent).map_err(|_| send_error())
}

/// Converts the errors that other systems report as a broken pipe, which std does not convert here.
fn send_error() -> io::Error {
    match last_error() {
        error if error.raw_os_error() == Some(ws::WSAESHUTDOWN) => {
            io::Error::new(io::ErrorKind::BrokenPipe, error)
        }
        error => error,
    }
}

/// The number of buffers that are accepted per call; Wine accepts no more.
const MOST_BUFFERS: usize = 1024;

/// Sends from several buffers, like [`send`].
pub(crate) fn send_vectored(socket: Descriptor<'_>, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
    let count = buffers.len().min(MOST_BUFFERS) as u32;
    let mut sent = 0;
    // SAFETY: std promises that `IoSlice` is laid out as `WSABUF`, and they are only read. Without an
    // overlapped structure the call ends before it returns.
    check(unsafe {
        ws::WSASend(
            raw(socket),
            buffers.as_ptr().cast(),
            count,
            &mut sent,
            0,
            std::ptr::null_mut(),
            None,
        )
    })
    .map_err(|_| send_error())?;
    Ok(sent as usize)
}

/// Receives from the peer of a connected socket, and returns the number of bytes at the start of `room`
/// that are initialised now.
pub(crate) fn recv_uninit(
    socket: Descriptor<'_>,
    room: &mut [MaybeUninit<u8>],
) -> io::Result<usize> {
    let len = i32::try_from(room.len()).unwrap_or(i32::MAX);
    // SAFETY: there are at least `len` bytes, which the call only writes to.
    let received = unsafe { ws::recv(raw(socket), room.as_mut_ptr().cast(), len, 0) };
    match usize::try_from(received).map_err(|_| last_error()) {
        // Like std, treats a direction that was shut down at this end as ended.
        Err(error) if error.raw_os_error() == Some(ws::WSAESHUTDOWN) => Ok(0),
        result => result,
    }
}

/// Receives a datagram, or only peeks at it, and returns its length and sender. What does not fit is discarded, as
/// on other systems; the OS reports that as an error.
pub(crate) fn recv_from(
    socket: &UdpSocket,
    bytes: &mut [u8],
    peek: bool,
) -> io::Result<(usize, SocketAddr)> {
    let mut from = RawAddress::empty();
    let (address, address_len) = from.as_mut_parts();
    // SAFETY: there is room for the address, and its length says how much.
    let received = unsafe { receive(socket, bytes, peek, address, address_len)? };
    Ok((received, from.to_inet()?))
}

/// Receives like [`recv_from`], and returns the number of bytes at the start of `room` that were received. All of
/// `room` is zeroed first.
pub(crate) fn recv_from_uninit(
    socket: &UdpSocket,
    room: &mut [MaybeUninit<u8>],
) -> io::Result<(usize, SocketAddr)> {
    room.fill(MaybeUninit::new(0));
    // SAFETY: `MaybeUninit<u8>` is laid out as `u8`, and all of them are initialised.
    let bytes = unsafe { &mut *(std::ptr::from_mut(room) as *mut [u8]) };
    recv_from(socket, bytes, false)
}

/// Receives like [`recv_from`], without the sender.
pub(crate) fn recv(socket: &UdpSocket, bytes: &mut [u8], peek: bool) -> io::Result<usize> {
    // SAFETY: no address is requested.
    unsafe { receive(socket, bytes, peek, std::ptr::null_mut(), std::ptr::null_mut()) }
}

/// # Safety
///
/// `address` is null, or has room for as many bytes as `address_len` points to.
unsafe fn receive(
    socket: &UdpSocket,
    bytes: &mut [u8],
    peek: bool,
    address: *mut ws::SOCKADDR,
    address_len: *mut i32,
) -> io::Result<usize> {
    let len = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    let flags = if peek { ws::MSG_PEEK } else { 0 };
    let socket = socket.as_raw_socket() as ws::SOCKET;
    let start = bytes.as_mut_ptr();
    // SAFETY: there are at least `len` bytes; the caller guarantees the same of the address.
    let received = unsafe { ws::recvfrom(socket, start, len, flags, address, address_len) };
    match usize::try_from(received).map_err(|_| last_error()) {
        Err(error) if error.raw_os_error() == Some(ws::WSAEMSGSIZE) => Ok(len as usize),
        result => result,
    }
}

/// Converts a socket that listens into a listener.
pub(crate) fn into_listener(socket: TcpStream) -> TcpListener {
    OwnedSocket::from(socket).into()
}
