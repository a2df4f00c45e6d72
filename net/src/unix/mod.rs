//! What only Unix has: local sockets and pipes.
//!
//! [`UnixStream`] and [`UnixListener`] are to local sockets what their TCP counterparts are to TCP,
//! [`UnixDatagram`] what [`UdpSocket`](crate::UdpSocket) is to UDP. [`pipe()`] makes an anonymous
//! pipe.

mod datagram;
mod listener;
pub mod pipe;
mod stream;

pub use crate::sys::local::SocketAddr;
pub use datagram::UnixDatagram;
pub use listener::UnixListener;
pub use pipe::pipe;
pub use stream::{Credentials, UnixStream};
