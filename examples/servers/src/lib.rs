//! What the servers among the examples share: where they listen, and what tells them to end.
//!
//! ```text
//! cargo run -p windlass-servers --example axum_app
//! ```

pub mod tls;

use std::future::pending;
use std::io;
use std::os::unix::net::UnixStream as Pipe;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use windlass::net::TcpListener;
use windlass::net::unix::UnixStream;
use windlass::serve::Drain;

/// Listens on the port of the environment variable `PORT`, or on a free one.
///
/// # Errors
///
/// If `PORT` is no port, or is taken.
pub async fn listen() -> io::Result<TcpListener> {
    let port = match std::env::var("PORT") {
        Ok(port) => port.parse().map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("PORT={port} is no port"))
        })?,
        Err(_) => 0,
    };
    TcpListener::bind(("127.0.0.1", port)).await
}

/// Signals that come within this time are one: a shell, or what a program was started with, may pass on what the program has
/// got already.
const ONE_SIGNAL: Duration = Duration::from_millis(500);

/// Tells a server to end on SIGTERM and Ctrl-C. The second of them ends it at once.
///
/// # Errors
///
/// If the OS refuses.
pub fn on_signals(drain: Drain) -> io::Result<Drain> {
    let (sender, receiver) = Pipe::pair()?;
    for signal in [SIGTERM, SIGINT] {
        signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
    }
    let receiver = UnixStream::from_std(receiver)?;
    let switch = drain.switch();
    Ok(drain.on(async move {
        let mut last: Option<Instant> = None;
        while let Ok(1..) = receiver.read(&mut [0]).await {
            if last.is_none_or(|last| last.elapsed() > ONE_SIGNAL) {
                last = Some(Instant::now());
                switch.flip();
            }
        }
        pending().await
    }))
}
