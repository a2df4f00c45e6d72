//! Local streams.

use std::io;
use std::path::Path;

use super::super::{halves, operations, readiness, socket, try_reads, try_writes};
use super::{SocketAddr, UCred};
use crate::io::{impl_read, impl_write};

socket!(UnixStream, windlass::net::unix::UnixStream, std::os::unix::net::UnixStream);

impl UnixStream {
    pub async fn connect<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        windlass::net::unix::UnixStream::connect(path).await.map(Self)
    }

    pub async fn connect_addr(address: &SocketAddr) -> io::Result<Self> {
        windlass::net::unix::UnixStream::connect_addr(address).await.map(Self)
    }

    #[track_caller]
    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = windlass::net::unix::UnixStream::pair()?;
        Ok((Self(a), Self(b)))
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.peer_addr()
    }

    pub fn peer_cred(&self) -> io::Result<UCred> {
        self.0.peer_cred()
    }

    readiness!();
    operations!();
    try_reads!();
    try_writes!();
}

impl_read!([] UnixStream, |this| &this.0);
impl_write!([] UnixStream, |this| &this.0);
halves!(UnixStream, windlass::net::unix::UnixStream, SocketAddr);
