//! Local listeners.

use std::io;
use std::path::Path;
use std::task::{Context, Poll, ready};

use super::super::socket;
use super::{SocketAddr, UnixStream};

socket!(UnixListener, windlass::net::unix::UnixListener, std::os::unix::net::UnixListener);

impl UnixListener {
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        windlass::net::unix::UnixListener::bind(path).map(Self)
    }

    pub fn bind_addr(address: &SocketAddr) -> io::Result<Self> {
        windlass::net::unix::UnixListener::bind_addr(address).map(Self)
    }

    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        let (stream, peer) = self.0.accept().await?;
        Ok((UnixStream(stream), peer))
    }

    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let (stream, peer) = ready!(self.0.poll_accept(cx))?;
        Poll::Ready(Ok((UnixStream(stream), peer)))
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
