//! Child processes.

use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

use windlass::process as ours;

use crate::io::{impl_read, impl_write};

#[derive(Debug)]
pub struct Command(ours::Command);

impl Command {
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        Self(ours::Command::new(program))
    }

    pub fn as_std(&self) -> &std::process::Command {
        self.0.as_std()
    }

    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        self.0.as_std_mut()
    }

    pub fn into_std(self) -> std::process::Command {
        self.0.into_std()
    }

    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        self.0.arg(arg);
        self
    }

    pub fn args<I, S>(&mut self, args: I) -> &mut Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.0.args(args);
        self
    }

    pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        self.0.arg0(arg);
        self
    }

    pub fn env<K: AsRef<OsStr>, V: AsRef<OsStr>>(&mut self, key: K, value: V) -> &mut Self {
        self.0.env(key, value);
        self
    }

    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Self {
        self.0.current_dir(dir);
        self
    }

    pub fn stdin<T: Into<Stdio>>(&mut self, stdio: T) -> &mut Self {
        self.0.stdin(stdio);
        self
    }

    pub fn stdout<T: Into<Stdio>>(&mut self, stdio: T) -> &mut Self {
        self.0.stdout(stdio);
        self
    }

    pub fn stderr<T: Into<Stdio>>(&mut self, stdio: T) -> &mut Self {
        self.0.stderr(stdio);
        self
    }

    pub fn kill_on_drop(&mut self, kill: bool) -> &mut Self {
        self.0.kill_on_drop(kill);
        self
    }

    pub fn get_kill_on_drop(&self) -> bool {
        self.0.get_kill_on_drop()
    }

    pub fn process_group(&mut self, group: i32) -> &mut Self {
        self.0.process_group(group);
        self
    }

    pub fn spawn(&mut self) -> io::Result<Child> {
        let mut inner = self.0.spawn()?;
        Ok(Child {
            stdin: inner.stdin.take().map(ChildStdin),
            stdout: inner.stdout.take().map(ChildStdout),
            stderr: inner.stderr.take().map(ChildStderr),
            inner,
        })
    }

    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        self.0.status()
    }

    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        self.0.output()
    }
}

impl From<std::process::Command> for Command {
    fn from(std: std::process::Command) -> Self {
        Self(std.into())
    }
}

#[derive(Debug)]
pub struct Child {
    pub stdin: Option<ChildStdin>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    inner: ours::Child,
}

impl Child {
    pub fn id(&self) -> Option<u32> {
        self.inner.id()
    }

    pub fn start_kill(&mut self) -> io::Result<()> {
        self.inner.start_kill()
    }

    pub async fn kill(&mut self) -> io::Result<()> {
        self.inner.kill().await
    }

    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        self.inner.wait().await
    }

    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.inner.try_wait()
    }

    pub async fn wait_with_output(mut self) -> io::Result<Output> {
        self.inner.stdin = self.stdin.take().map(|pipe| pipe.0);
        self.inner.stdout = self.stdout.take().map(|pipe| pipe.0);
        self.inner.stderr = self.stderr.take().map(|pipe| pipe.0);
        self.inner.wait_with_output().await
    }
}

#[derive(Debug)]
pub struct ChildStdin(ours::ChildStdin);
#[derive(Debug)]
pub struct ChildStdout(ours::ChildStdout);
#[derive(Debug)]
pub struct ChildStderr(ours::ChildStderr);

impl_write!([] ChildStdin, |this| this.0);
impl_read!([] ChildStdout, |this| &mut this.0);
impl_read!([] ChildStderr, |this| &mut this.0);

/// Conversions of a pipe, to give it to another child.
macro_rules! into_stdio {
    ($($type:ident)*) => {
        $(
            impl TryFrom<$type> for Stdio {
                type Error = io::Error;

                fn try_from(pipe: $type) -> io::Result<Self> {
                    pipe.0.try_into()
                }
            }
        )*
    };
}

into_stdio!(ChildStdin ChildStdout ChildStderr);
