//! Local datagram sockets.

use std::io;
use std::net::Shutdown;
use std::path::Path;
use std::task::{Context, Poll};

use super::super::udp::receives;
use super::super::{operations, readiness, socket};
use super::SocketAddr;

socket!(UnixDatagram, windlass::net::unix::UnixDatagram, std::os::unix::net::UnixDatagram);

impl UnixDatagram {
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        windlass::net::unix::UnixDatagram::bind(path).map(Self)
    }

    #[track_caller]
    pub fn unbound() -> io::Result<Self> {
        windlass::net::unix::UnixDatagram::unbound().map(Self)
    }

    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = windlass::net::unix::UnixDatagram::pair()?;
        Ok((Self(a), Self(b)))
    }

    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.0.connect(path)
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }

    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.0.shutdown(how)
    }

    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        self.0.send_to(buf, path).await
    }

    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], path: P) -> io::Result<usize> {
        self.0.try_send_to(buf, path)
    }

    #[track_caller]
    pub fn poll_send_to<P: AsRef<Path>>(
        &self,
        _cx: &mut Context<'_>,
        _buf: &[u8],
        _path: P,
    ) -> Poll<io::Result<usize>> {
        crate::missing("`UnixDatagram::poll_send_to`")
    }

    readiness!();
    operations!();
    receives!(SocketAddr, |peer| peer);
}
