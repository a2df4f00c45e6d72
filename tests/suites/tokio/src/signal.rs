//! Signals of the OS.

use std::io;

pub async fn ctrl_c() -> io::Result<()> {
    windlass::signal::ctrl_c().await
}

pub mod unix {
    pub use windlass::signal::unix::{Signal, SignalKind, signal};
}
