//! The operating system: the only module of this crate that names it, and that contains unsafe code.
//!
//! A platform provides:
//!
//! - `Listener`: receives one signal or event of the console. `new(number)` counts from that moment on, and
//!   `heard(&mut self)` waits for the next one; dropping that future loses nothing. `INTERRUPT` is Ctrl-C's number, and
//!   `TERMINATIONS` are the numbers of all requests to end the process;
//! - `Exit`: waits for the end of a child process. `wait(&mut Child)` returns its status, without blocking the thread.
//!   `LEAVES_ZOMBIES`: true if a child has to be waited for to be reaped;
//! - `ChildStdin`, `ChildOutput`: the pipes of a child. Both have `new`, which takes std's type, and `into_stdio`;
//!   the first writes, the second reads;
//! - `StandardInput`: `new()`, and `poll_ready()`, which waits until a read will not block, as far as the OS can tell.
//!   The read itself may still block;
//! - `read_at`, `write_at`: positioned access to a file. `read_cached`: reads bytes that are cached in memory, without
//!   waiting for a disk; returns `None` where that is not supported;
//! - `descriptor_limit`: how many descriptors the process may have open, or `None` if there is no limit.

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
