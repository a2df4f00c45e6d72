//! Starting a child process, and waiting for it.

use std::io;
use std::process::{self, ExitStatus, Output, Stdio};

use super::Command;
use crate::process::Child;

impl Command {
    /// Starts the child. Its pipes belong to the current runtime, or to the global runtime if there is none.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `NotFound` if there is no such program, or an error if the runtime is shutting
    /// down. If the child was started but its pipes can't be registered, it is killed.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let mut child = Command::new("sh").args(["-c", "exit 0"]).spawn()?;
    /// assert!(child.wait().await?.success());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn spawn(&mut self) -> io::Result<Child> {
        Child::start(self.std.spawn()?, self.kill_on_drop)
    }

    /// Starts the child with a function of your own, which is called with std's command; otherwise like
    /// [`spawn`](Self::spawn). The function could, for example, start the child in another session or job.
    ///
    /// # Errors
    ///
    /// Returns the function's error, and the same errors as [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let mut child = Command::new("sh").args(["-c", "exit 0"]).spawn_with(|std| std.spawn())?;
    /// assert!(child.wait().await?.success());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn spawn_with(
        &mut self,
        spawn: impl FnOnce(&mut process::Command) -> io::Result<process::Child>,
    ) -> io::Result<Child> {
        Child::start(spawn(&mut self.std)?, self.kill_on_drop)
    }

    /// Starts the child, waits for its end, and returns its status.
    ///
    /// The child is started by this call, not by the first poll. Its pipes, if any, are closed.
    ///
    /// Dropping the future drops the child; see [`kill_on_drop`](Self::kill_on_drop).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`spawn`](Self::spawn) and [`Child::wait`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// assert!(Command::new("sh").args(["-c", "exit 0"]).status().await?.success());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + Send + use<> {
        let child = self.spawn();
        async {
            let mut child = child?;
            // The child must not wait for a reader.
            drop((child.stdout.take(), child.stderr.take()));
            child.wait().await
        }
    }

    /// Starts the child, waits for its end, and returns its status and all of its output.
    ///
    /// The child is started by this call, not by the first poll.
    ///
    /// Dropping the future drops the child; see [`kill_on_drop`](Self::kill_on_drop).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`spawn`](Self::spawn) and [`Child::wait_with_output`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let output = Command::new("echo").arg("hello").output().await?;
    /// assert_eq!(output.stdout, b"hello\n");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + Send + use<> {
        let child = self.spawn_captured();
        async { child?.wait_with_output().await }
    }

    /// Starts the child like std's `output`: streams that were not set are captured, and the input is empty.
    fn spawn_captured(&mut self) -> io::Result<Child> {
        let set = self.set;
        if !set.stdin {
            self.std.stdin(Stdio::null());
        }
        if !set.stdout {
            self.std.stdout(Stdio::piped());
        }
        if !set.stderr {
            self.std.stderr(Stdio::piped());
        }
        let child = self.spawn();
        // The next call may be `spawn`, for which they are inherited.
        if !set.stdin {
            self.std.stdin(Stdio::inherit());
        }
        if !set.stdout {
            self.std.stdout(Stdio::inherit());
        }
        if !set.stderr {
            self.std.stderr(Stdio::inherit());
        }
        child
    }
}
