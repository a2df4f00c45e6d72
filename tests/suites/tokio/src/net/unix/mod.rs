//! Local sockets and pipes.

mod datagram;
mod listener;
pub mod pipe;
mod socket;
mod stream;

pub use datagram::UnixDatagram;
pub use listener::UnixListener;
pub use socket::UnixSocket;
pub use stream::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, UnixStream, WriteHalf};
pub use windlass::net::unix::{Credentials as UCred, SocketAddr};
