//! A running child process.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::process::{self, ExitStatus, Output};
use std::task::Poll;

use windlass_runtime::Handle;

use super::{ChildStderr, ChildStdin, ChildStdout, orphans};
use crate::sys::Exit;

/// A child process; see [`Command::spawn`](super::Command::spawn).
///
/// When it is dropped, the process continues to run, or is killed if [`kill_on_drop`](super::Command::kill_on_drop) was
/// set. It leaves no zombie in either case.
///
/// # Examples
///
/// ```
/// use windlass::process::Command;
///
/// # windlass::block_on(async {
/// let mut child = Command::new("sleep").arg("1000").spawn()?;
/// assert!(child.try_wait()?.is_none());
/// child.kill().await?;
/// assert!(!child.wait().await?.success());
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct Child {
    /// The pipe to the child's standard input, if it was piped. When it is dropped, the child sees the end.
    pub stdin: Option<ChildStdin>,
    /// The pipe from the child's standard output, if it was piped.
    pub stdout: Option<ChildStdout>,
    /// The pipe from the child's standard error, if it was piped.
    pub stderr: Option<ChildStderr>,
    /// `None` after it was handed over to `orphans`.
    process: Option<Process>,
    kill_on_drop: bool,
    /// Waits for the process after the `Child` was dropped.
    runtime: Handle,
}

/// The process, and the state of waiting for it.
pub(super) struct Process {
    std: process::Child,
    exit: Exit,
    /// Set when the process was reaped. From then on the OS may reuse its id.
    status: Option<ExitStatus>,
}

impl Child {
    pub(super) fn start(mut std: process::Child, kill_on_drop: bool) -> io::Result<Self> {
        let (stdin, stdout, stderr) = (std.stdin.take(), std.stdout.take(), std.stderr.take());
        let process = Process { std, exit: Exit::default(), status: None };
        // From here on, the child is killed and waited for if something fails.
        let mut child = Self {
            stdin: None,
            stdout: None,
            stderr: None,
            process: Some(process),
            kill_on_drop: true,
            runtime: Handle::current(),
        };
        orphans::look_after();
        child.stdin = stdin.map(ChildStdin::from_std).transpose()?;
        child.stdout = stdout.map(ChildStdout::from_std).transpose()?;
        child.stderr = stderr.map(ChildStderr::from_std).transpose()?;
        child.kill_on_drop = kill_on_drop;
        Ok(child)
    }

    /// Returns the process's id, or `None` if it has ended and was waited for, because the OS may then reuse the id.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// # let mut child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn()?;
    /// assert!(child.id().is_some());
    /// child.kill().await?;
    /// assert!(child.id().is_none());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn id(&self) -> Option<u32> {
        let process = self.process();
        process.status.is_none().then(|| process.std.id())
    }

    /// Kills the process (`SIGKILL` on Unix), and waits for its end.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`start_kill`](Self::start_kill) and [`wait`](Self::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// # let mut child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn()?;
    /// child.kill().await?;
    /// assert!(!child.wait().await?.success());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn kill(&mut self) -> io::Result<()> {
        self.start_kill()?;
        self.wait().await.map(drop)
    }

    /// Kills the process without waiting for its end. If it has already ended, this has no effect and is not an error,
    /// as in std.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// # let mut child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn()?;
    /// child.start_kill()?;
    /// child.wait().await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn start_kill(&mut self) -> io::Result<()> {
        self.process_mut().kill()
    }

    /// Waits for the end of the process. Another call returns the same status.
    ///
    /// If the child's [input](Self::stdin) was not taken, it is closed first, so that the child does not wait for more.
    ///
    /// Dropping the future loses nothing, but the input is closed.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn()?;
    /// assert_eq!(child.wait().await?.code(), Some(3));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        self.process_mut().wait().await
    }

    /// Returns the status of the process if it has ended, or `None` if it is running.
    ///
    /// # Errors
    ///
    /// Returns the OS's error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// # let mut child = Command::new("sleep").arg("1000").kill_on_drop(true).spawn()?;
    /// assert!(child.try_wait()?.is_none());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.process_mut().try_wait()
    }

    /// Waits for the end of the process, and returns everything that it writes into those pipes that were not taken.
    /// Its input is closed first.
    ///
    /// The output ends when all processes that have the pipes have closed them. Children of the child may be among
    /// them.
    ///
    /// Dropping the future drops the child, and its output.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
    /// assert_eq!(child.wait_with_output().await?.stdout, b"hello\n");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        let (out, err) = (self.stdout.take(), self.stderr.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let reading_out = async {
            match &out {
                Some(pipe) => pipe.read_to_end(&mut stdout).await,
                None => Ok(0),
            }
        };
        let reading_err = async {
            match &err {
                Some(pipe) => pipe.read_to_end(&mut stderr).await,
                None => Ok(0),
            }
        };
        let (status, _) = both(self.wait(), both(reading_out, reading_err)).await?;
        Ok(Output { status, stdout, stderr })
    }

    fn process(&self) -> &Process {
        self.process.as_ref().expect("the process is there until the child is dropped")
    }

    fn process_mut(&mut self) -> &mut Process {
        self.process.as_mut().expect("the process is there until the child is dropped")
    }
}

/// Waits for two futures at the same time, or for the first error.
async fn both<A, B>(
    a: impl Future<Output = io::Result<A>>,
    b: impl Future<Output = io::Result<B>>,
) -> io::Result<(A, B)> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut of_a, mut of_b) = (None, None);
    poll_fn(|cx| {
        if of_a.is_none() {
            if let Poll::Ready(result) = a.as_mut().poll(cx) {
                of_a = Some(result?);
            }
        }
        if of_b.is_none() {
            if let Poll::Ready(result) = b.as_mut().poll(cx) {
                of_b = Some(result?);
            }
        }
        match (of_a.take(), of_b.take()) {
            (Some(a), Some(b)) => Poll::Ready(Ok((a, b))),
            (a, b) => {
                (of_a, of_b) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(mut process) = self.process.take() else { return };
        if process.status.is_none() && self.kill_on_drop {
            // It fails only if the process has ended.
            let _ = process.kill();
        }
        if !process.reap() {
            orphans::adopt(process, &self.runtime);
        }
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("id", &self.id()).finish_non_exhaustive()
    }
}

impl Process {
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        let status = self.exit.wait(&mut self.std).await?;
        self.status = Some(status);
        Ok(status)
    }

    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            self.status = self.std.try_wait()?;
        }
        Ok(self.status)
    }

    fn kill(&mut self) -> io::Result<()> {
        // After a process was waited for, its id may belong to another.
        if self.status.is_some() {
            return Ok(());
        }
        self.std.kill()
    }

    /// Reaps the process if it has ended. Returns true if there is nothing left to wait for, for example because other
    /// code has waited for it.
    pub(super) fn reap(&mut self) -> bool {
        !matches!(self.try_wait(), Ok(None))
    }
}
