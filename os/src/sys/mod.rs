//! The operating system: the only place in this crate that names it, and that is unsafe.
//!
//! A platform provides:
//!
//! - `Listener`: hears of one signal or event of the console. `new(number)` counts from that moment on,
//!   `heard(&mut self)` waits for the next, and is as good as new if it is dropped. `INTERRUPT` is Ctrl-C's number, and
//!   `TERMINATIONS` are the numbers of all that ask the process to end;
//! - `Exit`: waits for the end of a child process. `of(&Child)` stands by, `wait(&mut Child)` says how it ended,
//!   without blocking the thread; `LEAVES_ZOMBIES`: whether a child has to be waited for to be forgotten;
//! - `ChildStdin`, `ChildOutput`: the pipes of a child. Both have `new`, which takes std's type, and `into_stdio`;
//!   the one writes, the other reads;
//! - `StandardInput`: `new()`, and `ready()`, which waits until a read is not going to block, as far as the OS can
//!   tell; `read(&mut [u8])`, which may block all the same;
//! - `read_at`, `write_at`: positioned access to a file; `read_cached`: a read that takes what is in memory and does
//!   not wait for a disk, or `None` where there is no such thing.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::symlink;
#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
#[cfg(windows)]
pub use windows::{symlink_dir, symlink_file};
