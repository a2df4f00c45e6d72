//! Child processes that are awaited, and not blocked on.
//!
//! [`Command`] is std's, and what it starts is a [`Child`] whose end and whose pipes can be awaited. `status` and `output`
//! do all of it in one call.
//!
//! - No thread waits for a child: the poller does, by a pidfd on Linux (and by `SIGCHLD` where the kernel or a sandbox
//!   refuses one), by `EVFILT_PROC` on macOS and the BSDs, and by a wait of the OS's thread pool on Windows.
//! - A child that is dropped goes on, unless [`kill_on_drop`](Command::kill_on_drop) says otherwise. Either way it leaves no
//!   zombie: a task of the runtime that it was started on waits for its end. If that runtime shuts down before, the child
//!   is waited for when the process starts or drops another one.
//! - Starting a process takes the thread some hundred microseconds, as long as the OS needs for it.
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
//! Through a pipe and back, both at a time:
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
