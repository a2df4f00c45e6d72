//! What differs between operating systems: where random bytes come from.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::random;
#[cfg(windows)]
pub(crate) use windows::random;
