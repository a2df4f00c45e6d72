//! What is to be started, and how.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{self, ExitStatus, Output, Stdio};

use super::Child;

/// Builds a child process, as [`std::process::Command`] does.
///
/// # Examples
///
/// ```
/// use windlass::process::Command;
///
/// # windlass::block_on(async {
/// let status = Command::new("sh").args(["-c", "exit 3"]).status().await?;
/// assert_eq!(status.code(), Some(3));
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct Command {
    std: process::Command,
    kill_on_drop: bool,
    /// Which of the standard streams were set; `output` leaves these alone.
    set: Streams,
}

#[derive(Clone, Copy, Debug, Default)]
struct Streams {
    stdin: bool,
    stdout: bool,
    stderr: bool,
}

impl Streams {
    const ALL: Self = Self { stdin: true, stdout: true, stderr: true };
}

impl Command {
    /// A command for a program: by its path, or by its name, which is looked up in `PATH`. No arguments; environment,
    /// directory and standard streams are those of this process.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        Self { set: Streams::default(), ..Self::from(process::Command::new(program)) }
    }

    /// Std's command inside, to look at.
    pub fn as_std(&self) -> &process::Command {
        &self.std
    }

    /// Std's command inside, for the settings that are not here. From then on [`output`](Self::output) captures what it is told to
    /// capture by [`stdout`](Self::stdout) and [`stderr`](Self::stderr), and no more: std does not tell what was set.
    pub fn as_std_mut(&mut self) -> &mut process::Command {
        self.set = Streams::ALL;
        &mut self.std
    }

    pub(crate) fn std_mut(&mut self) -> &mut process::Command {
        &mut self.std
    }

    /// Takes std's command out. [`kill_on_drop`](Self::kill_on_drop) is not part of it.
    pub fn into_std(self) -> process::Command {
        self.std
    }

    /// Adds an argument, which no shell looks at.
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        self.std.arg(arg);
        self
    }

    /// Adds several arguments.
    pub fn args<I, S>(&mut self, args: I) -> &mut Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// Sets a variable of the child's environment.
    pub fn env<K: AsRef<OsStr>, V: AsRef<OsStr>>(&mut self, key: K, value: V) -> &mut Self {
        self.std.env(key, value);
        self
    }

    /// Sets several variables of the child's environment.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(vars);
        self
    }

    /// Removes a variable from the child's environment.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Self {
        self.std.env_remove(key);
        self
    }

    /// Starts from an empty environment.
    pub fn env_clear(&mut self) -> &mut Self {
        self.std.env_clear();
        self
    }

    /// Sets the child's working directory.
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Self {
        self.std.current_dir(dir);
        self
    }

    /// Sets the child's standard input. [`spawn`](Self::spawn) and [`status`](Self::status) inherit it by default,
    /// [`output`](Self::output) has it empty.
    pub fn stdin<T: Into<Stdio>>(&mut self, stdin: T) -> &mut Self {
        self.std.stdin(stdin);
        self.set.stdin = true;
        self
    }

    /// Sets the child's standard output. It is inherited by default, and captured by [`output`](Self::output).
    pub fn stdout<T: Into<Stdio>>(&mut self, stdout: T) -> &mut Self {
        self.std.stdout(stdout);
        self.set.stdout = true;
        self
    }

    /// Sets where the child's errors go. It is inherited by default, and captured by [`output`](Self::output).
    pub fn stderr<T: Into<Stdio>>(&mut self, stderr: T) -> &mut Self {
        self.std.stderr(stderr);
        self.set.stderr = true;
        self
    }

    /// Returns true if the child is killed when its [`Child`] is dropped, or the future of [`status`](Self::status) or
    /// [`output`](Self::output). By default it is not: it goes on.
    ///
    /// A child that was killed this way is waited for in the background. Its own children live on.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::process::Command;
    /// use windlass::timer::timeout;
    ///
    /// # windlass::block_on(async {
    /// let nap = Command::new("sleep").arg("1000").kill_on_drop(true).status();
    /// // The child ends with the time-out.
    /// assert!(timeout(Duration::from_millis(10), nap).await.is_err());
    /// # });
    /// ```
    pub fn kill_on_drop(&mut self, kill: bool) -> &mut Self {
        self.kill_on_drop = kill;
        self
    }

    /// Returns true if the child is killed when it is dropped.
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Starts the child. It belongs to the current runtime (the global one outside of any), which watches its pipes.
    ///
    /// # Errors
    ///
    /// What the OS says, `NotFound` for instance if there is no such program, or if the runtime is shutting down. If the
    /// child was started and its pipes can't be watched, it is killed.
    pub fn spawn(&mut self) -> io::Result<Child> {
        Child::start(self.std.spawn()?, self.kill_on_drop)
    }

    /// Starts the child and waits for its end. Its input is closed if it is a pipe. It is started by this call, not when the future is
    /// polled first.
    ///
    /// Dropping the future drops the child: see [`kill_on_drop`](Self::kill_on_drop).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`spawn`](Self::spawn) and [`Child::wait`].
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + Send + use<> {
        let child = self.spawn();
        async {
            let mut child = child?;
            // What nobody reads must not hold the child up.
            drop((child.stdout.take(), child.stderr.take()));
            child.wait().await
        }
    }

    /// Starts the child, and waits for its end and for all that it writes. It is started by this call, not when
    /// the future is polled first.
    ///
    /// Dropping the future drops the child: see [`kill_on_drop`](Self::kill_on_drop).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`spawn`](Self::spawn) and [`Child::wait_with_output`].
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + Send + use<> {
        let child = self.spawn_captured();
        async { child?.wait_with_output().await }
    }

    /// As std's `output` does: what was not set is captured, and the input is empty.
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
        // The next one may be for `spawn`, which inherits.
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

/// [`output`](Command::output) captures no more than the command was told to; see [`as_std_mut`](Command::as_std_mut).
impl From<process::Command> for Command {
    fn from(std: process::Command) -> Self {
        Self { std, kill_on_drop: false, set: Streams::ALL }
    }
}
