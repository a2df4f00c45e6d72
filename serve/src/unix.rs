//! Local listeners as a source of connections.

use std::io;

use windlass_net::unix::{SocketAddr, UnixListener, UnixStream};

use crate::Listener;

impl Listener for UnixListener {
    type Stream = UnixStream;
    type Addr = SocketAddr;

    async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.accept().await
    }

    fn try_accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        self.try_accept()
    }

    fn refuse_new(&self) -> io::Result<bool> {
        self.refuse_new()
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }
}
