//! Local sockets and pipes, on Unix only.
//!
//! [`UnixStream`] and [`UnixListener`] correspond to the types for TCP, and [`UnixDatagram`] corresponds to
//! [`UdpSocket`](crate::UdpSocket). [`UnixSocket`] is for settings that have to be made before. [`pipe()`] creates an
//! anonymous pipe. [`OwnedReadHalf`] and similar types are the halves of a [`UnixStream`].
//!
//! Any process that may open a socket's path can connect to it: restrict the permissions of the directory, or check
//! [`UnixStream::peer_cred`].

mod datagram;
mod listener;
pub mod pipe;
mod socket;
mod stream;

pub use crate::sys::local::SocketAddr;
pub use datagram::UnixDatagram;
pub use listener::UnixListener;
pub use pipe::pipe;
pub use socket::UnixSocket;
pub use stream::{Credentials, UnixStream};

crate::halves::half_aliases!(UnixStream);
