//! Signals, child processes and files on Unix.

mod command;
mod exit;
#[cfg_attr(not(target_os = "linux"), path = "unix/exit_kqueue.rs")]
mod exit_event;
mod files;
mod input;
mod pipes;
mod signals;

use std::io;

use libc::c_int;

pub(crate) use exit::{Exit, LEAVES_ZOMBIES};
pub use files::symlink;
pub(crate) use files::{DirMode, descriptor_limit, read_at, read_cached, write_at};
pub(crate) use input::{Input, StandardInput};
pub(crate) use pipes::{ChildOutput, ChildStdin};
pub(crate) use signals::Listener;

/// The signal of Ctrl-C.
pub(crate) const INTERRUPT: c_int = libc::SIGINT;
/// The signals that ask a process to end.
pub(crate) const TERMINATIONS: [c_int; 2] = [libc::SIGINT, libc::SIGTERM];

/// Turns a system call's `-1` into its error.
fn check(result: c_int) -> io::Result<c_int> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
