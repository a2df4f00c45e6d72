//! TCP: listeners, connections, and sockets that have yet to become either.

mod keepalive;
mod listener;
mod options;
mod socket;
mod stream;

pub use keepalive::Keepalive;
pub use listener::TcpListener;
pub use socket::TcpSocket;
pub use stream::TcpStream;
