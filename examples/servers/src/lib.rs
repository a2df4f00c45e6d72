//! The common parts of the example servers: the address on which they listen, and TLS.
//!
//! ```text
//! cargo run -p windlass-servers --example axum_app
//! ```

pub mod tls;

use std::io;

use windlass::net::TcpListener;

/// Listens on the port in the environment variable `PORT`, or on a free one.
///
/// # Errors
///
/// Returns an error if `PORT` is not a port, or is taken.
pub async fn listen() -> io::Result<TcpListener> {
    let port = match std::env::var("PORT") {
        Ok(port) => port.parse().map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("PORT={port} is no port"))
        })?,
        Err(_) => 0,
    };
    TcpListener::bind(("127.0.0.1", port)).await
}

/// Compiles the code on the page about moving a server from tokio.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tokio.md")]
pub struct Moving;
