//! The parts that differ between operating systems: the source of random bytes, and the size of the terminal.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{random, terminal_size};
#[cfg(windows)]
pub(crate) use windows::{random, terminal_size};
