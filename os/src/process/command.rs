//! The builder of a child process.

mod getters;
mod start;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{self, Stdio};

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
    /// The standard streams that `output` does not change: those that were set.
    set: Streams,
}

#[derive(Clone, Copy, Debug, Default)]
struct Streams {
    stdin: bool,
    stdout: bool,
    stderr: bool,
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
    /// Set the standard streams with the methods here. Std does not reveal what was set through it, so
    /// [`output`](Self::output) captures standard output and standard error anyway, and afterwards they are inherited.
    /// Standard input keeps the setting made through std.
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
        self.set.stdin = true;
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

    /// Sets the child's standard input. By default it is inherited, or empty for [`output`](Self::output).
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

    /// Sets the child's standard output. By default it is inherited, or captured by [`output`](Self::output).
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

    /// Sets the child's standard error. By default it is inherited, or captured by [`output`](Self::output).
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

    /// Sets whether the child is killed when its [`Child`](super::Child), or the future of [`status`](Self::status) or
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
}

/// Its settings for the standard streams are kept, except by [`output`](Command::output); see
/// [`as_std_mut`](Command::as_std_mut).
impl From<process::Command> for Command {
    fn from(std: process::Command) -> Self {
        let set = Streams { stdin: true, ..Streams::default() };
        Self { std, kill_on_drop: false, set }
    }
}
