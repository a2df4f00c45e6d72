//! The builder of a child process.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{self, ExitStatus, Output, Stdio};

use super::Child;

/// A builder of a child process, like [`std::process::Command`].
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
    /// The standard streams that were set, which `output` does not change.
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
    /// Creates a command for a program, given by its path, or by its name, which is looked up in `PATH`.
    ///
    /// It has no arguments. The environment, the directory and the standard streams are those of this process.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let command = Command::new("ls");
    /// assert_eq!(command.as_std().get_program(), "ls");
    /// ```
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        Self { set: Streams::default(), ..Self::from(process::Command::new(program)) }
    }

    /// Returns a reference to std's command.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// assert_eq!(Command::new("ls").as_std().get_program(), "ls");
    /// ```
    pub fn as_std(&self) -> &process::Command {
        &self.std
    }

    /// Returns a mutable reference to std's command, for settings that have no method here.
    ///
    /// After this, [`output`](Self::output) captures only the streams that [`stdout`](Self::stdout) and [`stderr`](Self::stderr)
    /// were set to capture, because std does not tell what was set.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// command.as_std_mut().arg("-l");
    /// ```
    pub fn as_std_mut(&mut self) -> &mut process::Command {
        self.set = Streams::ALL;
        &mut self.std
    }

    pub(crate) fn std_mut(&mut self) -> &mut process::Command {
        &mut self.std
    }

    /// Returns std's command. It does not include [`kill_on_drop`](Self::kill_on_drop).
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let command: std::process::Command = Command::new("ls").into_std();
    /// # drop(command);
    /// ```
    pub fn into_std(self) -> process::Command {
        self.std
    }

    /// Adds an argument, which is not interpreted by a shell.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let output = Command::new("echo").arg("one argument").output().await?;
    /// assert_eq!(output.stdout, b"one argument\n");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        self.std.arg(arg);
        self
    }

    /// Adds several arguments.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let output = Command::new("echo").args(["two", "arguments"]).output().await?;
    /// assert_eq!(output.stdout, b"two arguments\n");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn args<I, S>(&mut self, args: I) -> &mut Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// Sets a variable of the child's environment.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let output = Command::new("sh").args(["-c", "echo $KEY"]).env("KEY", "value").output().await?;
    /// assert_eq!(output.stdout, b"value\n");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn env<K: AsRef<OsStr>, V: AsRef<OsStr>>(&mut self, key: K, value: V) -> &mut Self {
        self.std.env(key, value);
        self
    }

    /// Sets several variables of the child's environment.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let output =
    ///     Command::new("sh").args(["-c", "echo $A $B"]).envs([("A", "1"), ("B", "2")]).output().await?;
    /// assert_eq!(output.stdout, b"1 2\n");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let output = Command::new("sh").args(["-c", "echo $HOME"]).env_remove("HOME").output().await?;
    /// assert_eq!(output.stdout, b"\n");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Self {
        self.std.env_remove(key);
        self
    }

    /// Clears the child's environment.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("/bin/ls");
    /// command.env_clear();
    /// ```
    pub fn env_clear(&mut self) -> &mut Self {
        self.std.env_clear();
        self
    }

    /// Sets the child's working directory.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let output = Command::new("pwd").current_dir("/").output().await?;
    /// assert_eq!(output.stdout, b"/\n");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Self {
        self.std.current_dir(dir);
        self
    }

    /// Sets the child's standard input. By default it is inherited, and empty for [`output`](Self::output).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let status = Command::new("cat").stdin(Stdio::null()).status().await?;
    /// assert!(status.success());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn stdin<T: Into<Stdio>>(&mut self, stdin: T) -> &mut Self {
        self.std.stdin(stdin);
        self.set.stdin = true;
        self
    }

    /// Sets the child's standard output. By default it is inherited, and captured by [`output`](Self::output).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let status = Command::new("echo").stdout(Stdio::null()).status().await?;
    /// assert!(status.success());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn stdout<T: Into<Stdio>>(&mut self, stdout: T) -> &mut Self {
        self.std.stdout(stdout);
        self.set.stdout = true;
        self
    }

    /// Sets the child's standard error. By default it is inherited, and captured by [`output`](Self::output).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::process::Stdio;
    ///
    /// # use windlass::process::Command;
    /// # windlass::block_on(async {
    /// let status = Command::new("echo").stderr(Stdio::null()).status().await?;
    /// assert!(status.success());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn stderr<T: Into<Stdio>>(&mut self, stderr: T) -> &mut Self {
        self.std.stderr(stderr);
        self.set.stderr = true;
        self
    }

    /// Sets whether the child is killed when its [`Child`], or the future of [`status`](Self::status) or
    /// [`output`](Self::output), is dropped. By default it continues to run.
    ///
    /// A child that was killed this way is waited for in the background. Its own children continue to run.
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
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// assert!(!Command::new("ls").get_kill_on_drop());
    /// ```
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Starts the child. Its pipes belong to the current runtime, or to the global runtime if there is none.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `NotFound` if there is no such program, or an error if the runtime is shutting down. If the
    /// child was started and its pipes can't be registered, it is killed.
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

    /// Starts the child, waits for its end, and returns its status.
    ///
    /// The child is started by this call, and not by the first poll. Its pipes, if any, are closed.
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

    /// Starts the child, waits for its end, and returns its status and everything that it has written.
    ///
    /// The child is started by this call, and not by the first poll.
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
        // The next call may be `spawn`, which inherits.
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

/// [`output`](Command::output) captures only the streams that were set so; see [`as_std_mut`](Command::as_std_mut).
impl From<process::Command> for Command {
    fn from(std: process::Command) -> Self {
        Self { std, kill_on_drop: false, set: Streams::ALL }
    }
}
