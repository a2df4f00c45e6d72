//! Connections for hyper-util's client.

mod connected;
mod connector;
mod race;
// Local sockets as Unix has them.
#[cfg(unix)]
mod unix;

pub use connected::HttpInfo;
pub use connector::Connector;
#[cfg(unix)]
pub use unix::UnixConnector;
