//! Child processes that can be awaited.
//!
//! [`Command`] is like std's. It starts a [`Child`] whose end and pipes can be awaited. `status` and `output` do both
//! in one call.
//!
//! - No thread waits for a child. The poller does: for a pidfd on Linux (or `SIGCHLD` if the kernel or a sandbox
//!   refuses a pidfd), for `EVFILT_PROC` on macOS and the BSDs, and through the OS's thread pool on Windows.
//! - A dropped child continues to run, unless [`kill_on_drop`](Command::kill_on_drop) is set. Either way it leaves no
//!   zombie: a task of the runtime that started it waits for its end. If that runtime shuts down first, the child is
//!   reaped when the process starts or drops another one.
//! - Starting a process blocks the thread for as long as the OS needs, a few hundred microseconds.
//!
//! A child is as trusted as the program that it runs. [`output`](Command::output) reads as much as the child writes,
//! and waits until all processes that have inherited its pipes have closed them. If you can't be sure of that, put a
//! time-out around it and set `kill_on_drop`.
//!
//! # Examples
//!
//! ```
//! use windlass::process::Command;
//!
//! # windlass::block_on(async {
//! let output = Command::new("echo").arg("hello").output().await?;
//! assert!(output.status.success());
//! assert_eq!(output.stdout, b"hello\n");
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```
//!
//! Writing to a child and reading from it at the same time:
//!
//! ```
//! use std::process::Stdio;
//! use windlass::process::Command;
//!
//! # windlass::block_on(async {
//! let mut child =
//!     Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
//! let stdin = child.stdin.take().unwrap();
//! let feeding = windlass::spawn(async move {
//!     stdin.write_all(b"through the cat").await // and dropped: the child sees the end
//! });
//! let output = child.wait_with_output().await?;
//! feeding.await.unwrap()?;
//! assert_eq!(output.stdout, b"through the cat");
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```

mod child;
mod command;
mod orphans;
mod pipes;

pub use child::Child;
pub use command::Command;
pub use pipes::{ChildStderr, ChildStdin, ChildStdout};

// Re-exported for use with commands.
#[doc(no_inline)]
pub use std::process::{ExitStatus, Output, Stdio};

/// Returns the number of descriptors that this process may have open at the same time, or `None` if there is no limit.
///
/// This is the soft limit that `ulimit -n` shows. Programs may raise it up to the hard limit. On Windows there is none.
///
/// # Examples
///
/// ```
/// match windlass::process::descriptor_limit() {
///     Some(limit) => println!("{limit} files and connections"),
///     None => println!("as many as fit into memory"),
/// }
/// ```
pub fn descriptor_limit() -> Option<usize> {
    let limit = crate::sys::descriptor_limit()?;
    Some(limit.try_into().unwrap_or(usize::MAX))
}
