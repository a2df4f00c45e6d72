//! Connections for hyper-util's client.

mod connector;
mod race;

pub use connector::Connector;
