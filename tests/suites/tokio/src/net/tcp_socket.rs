//! TCP sockets that are neither bound nor connected yet. The options that windlass does not set are set on the
//! descriptor, which it lends.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use socket2::SockRef;

use super::{TcpListener, TcpStream};

#[derive(Debug)]
pub struct TcpSocket(Made);

#[derive(Debug)]
enum Made {
    ByUs(windlass::net::TcpSocket),
    /// `windlass::net::TcpSocket` takes none that was made elsewhere. `TcpStream::from_std`
    /// does, when it connects already.
    Elsewhere(std::net::TcpStream),
}

impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.0 {
            Made::ByUs(socket) => socket.as_fd(),
            Made::Elsewhere(socket) => socket.as_fd(),
        }
    }
}

impl AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

/// Options, read and set through the descriptor.
macro_rules! options {
    ($($get:ident, $set:ident: $type:ty => $of:ident, $to:ident;)*) => {
        $(
            pub fn $get(&self) -> io::Result<$type> {
                Ok(SockRef::from(self).$of()?.try_into().expect("an option in its range"))
            }

            pub fn $set(&self, value: $type) -> io::Result<()> {
                SockRef::from(self).$to(value.try_into().expect("an option in its range"))
            }
        )*
    };
}

impl TcpSocket {
    pub fn new_v4() -> io::Result<Self> {
        windlass::net::TcpSocket::new_v4().map(Made::ByUs).map(Self)
    }

    pub fn new_v6() -> io::Result<Self> {
        windlass::net::TcpSocket::new_v6().map(Made::ByUs).map(Self)
    }

    pub fn from_std_stream(stream: std::net::TcpStream) -> Self {
        Self(Made::Elsewhere(stream))
    }

    #[track_caller]
    fn ours(&self) -> &windlass::net::TcpSocket {
        match &self.0 {
            Made::ByUs(socket) => socket,
            Made::Elsewhere(_) => crate::missing("`TcpSocket::from_std_stream`"),
        }
    }

    pub fn reuseaddr(&self) -> io::Result<bool> {
        self.ours().reuse_address()
    }

    pub fn set_reuseaddr(&self, on: bool) -> io::Result<()> {
        self.ours().set_reuse_address(on)
    }

    pub fn reuseport(&self) -> io::Result<bool> {
        self.ours().reuse_port()
    }

    pub fn set_reuseport(&self, on: bool) -> io::Result<()> {
        self.ours().set_reuse_port(on)
    }

    pub fn linger(&self) -> io::Result<Option<Duration>> {
        SockRef::from(self).linger()
    }

    pub fn set_linger(&self, linger: Option<Duration>) -> io::Result<()> {
        SockRef::from(self).set_linger(linger)
    }

    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.set_linger(Some(Duration::ZERO))
    }

    options! {
        keepalive, set_keepalive: bool => keepalive, set_keepalive;
        nodelay, set_nodelay: bool => tcp_nodelay, set_tcp_nodelay;
        send_buffer_size, set_send_buffer_size: u32 => send_buffer_size, set_send_buffer_size;
        recv_buffer_size, set_recv_buffer_size: u32 => recv_buffer_size, set_recv_buffer_size;
        tclass_v6, set_tclass_v6: u32 => tclass_v6, set_tclass_v6;
        tos_v4, set_tos_v4: u32 => tos_v4, set_tos_v4;
    }

    pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
        SockRef::from(self).bind_device(interface)
    }

    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        self.ours().bind(address)
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.ours().local_addr()
    }

    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        match self.0 {
            Made::ByUs(socket) => socket.listen(backlog).map(TcpListener),
            Made::Elsewhere(_) => crate::missing("`TcpSocket::from_std_stream`"),
        }
    }

    pub async fn connect(self, address: SocketAddr) -> io::Result<TcpStream> {
        match self.0 {
            Made::ByUs(socket) => socket.connect(address).await.map(TcpStream),
            Made::Elsewhere(socket) => connect(socket, address).await,
        }
    }
}

/// Begins to connect by hand, and waits until it is done.
async fn connect(socket: std::net::TcpStream, address: SocketAddr) -> io::Result<TcpStream> {
    socket.set_nonblocking(true)?;
    match SockRef::from(&socket).connect(&address.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
        _ => {}
    }
    let stream = windlass::net::TcpStream::from_std(socket)?;
    stream.writable().await?;
    match stream.take_error()? {
        Some(error) => Err(error),
        None => Ok(TcpStream(stream)),
    }
}
