//! Console events, child processes and files on Windows.

mod command;
mod events;
mod exit;
mod files;
mod input;
mod pipes;

pub(crate) use events::{BREAK, CLOSE, INTERRUPT, LOGOFF, Listener, SHUTDOWN, TERMINATIONS};
pub(crate) use exit::{Exit, LEAVES_ZOMBIES};
pub(crate) use files::{DirMode, descriptor_limit, read_at, read_cached, write_at};
pub use files::{symlink_dir, symlink_file};
pub(crate) use input::{Input, StandardInput};
pub(crate) use pipes::{ChildOutput, ChildStdin};
