//! Local sockets that are neither bound nor connected yet.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::Path;

use super::{UnixDatagram, UnixListener, UnixStream};

#[derive(Debug)]
pub struct UnixSocket(windlass::net::unix::UnixSocket);

impl UnixSocket {
    #[track_caller]
    pub fn new_datagram() -> io::Result<Self> {
        windlass::net::unix::UnixSocket::new_datagram().map(Self)
    }

    #[track_caller]
    pub fn new_stream() -> io::Result<Self> {
        windlass::net::unix::UnixSocket::new_stream().map(Self)
    }

    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.0.bind(path)
    }

    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        self.0.listen(backlog).map(UnixListener)
    }

    pub async fn connect(self, path: impl AsRef<Path>) -> io::Result<UnixStream> {
        self.0.connect(path).await.map(UnixStream)
    }

    pub fn datagram(self) -> io::Result<UnixDatagram> {
        self.0.datagram().map(UnixDatagram)
    }
}

impl AsFd for UnixSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for UnixSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}
