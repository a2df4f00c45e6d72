//! What differs between operating systems: where random bytes come from, and how large the terminal is.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{random, terminal_size};
#[cfg(windows)]
pub(crate) use windows::{random, terminal_size};
