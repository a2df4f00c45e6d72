//! Local sockets that are not bound yet, which windlass does not have.

use std::io;
use std::path::Path;

use super::{UnixDatagram, UnixListener, UnixStream};

#[derive(Debug)]
pub struct UnixSocket(());

impl UnixSocket {
    #[track_caller]
    pub fn new_datagram() -> io::Result<Self> {
        crate::missing("`UnixSocket`")
    }

    #[track_caller]
    pub fn new_stream() -> io::Result<Self> {
        crate::missing("`UnixSocket`")
    }

    pub fn bind(&self, _path: impl AsRef<Path>) -> io::Result<()> {
        crate::missing("`UnixSocket`")
    }

    pub fn listen(self, _backlog: u32) -> io::Result<UnixListener> {
        crate::missing("`UnixSocket`")
    }

    pub async fn connect(self, _path: impl AsRef<Path>) -> io::Result<UnixStream> {
        crate::missing("`UnixSocket`")
    }

    pub fn datagram(self) -> io::Result<UnixDatagram> {
        crate::missing("`UnixSocket`")
    }
}
