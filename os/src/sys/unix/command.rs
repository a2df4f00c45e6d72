//! The settings of a command that exist on Unix only.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;

use crate::process::Command;

impl Command {
    /// Sets the child's user. Unix only.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// command.uid(1000);
    /// ```
    pub fn uid(&mut self, id: u32) -> &mut Self {
        self.std_mut().uid(id);
        self
    }

    /// Sets the child's group. Unix only.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// command.gid(1000);
    /// ```
    pub fn gid(&mut self, id: u32) -> &mut Self {
        self.std_mut().gid(id);
        self
    }

    /// Sets the first argument, which is the program's name by default. Unix only.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("sh");
    /// command.arg0("-sh"); // a login shell
    /// ```
    pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        self.std_mut().arg0(arg);
        self
    }

    /// Sets the child's process group; zero creates a new one, with the child as its leader. Unix only.
    ///
    /// A signal from the terminal, such as Ctrl-C, goes to all processes of one group.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// command.process_group(0);
    /// ```
    pub fn process_group(&mut self, group: i32) -> &mut Self {
        self.std_mut().process_group(group);
        self
    }

    /// Runs a closure in the child before the program starts. Unix only.
    ///
    /// # Safety
    ///
    /// The requirements are those of std's `pre_exec`: the closure runs after a fork, where code
    /// that allocates or takes a lock must not be called.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// // SAFETY: the closure calls nothing but `umask`, which is allowed after a fork.
    /// unsafe {
    ///     command.pre_exec(|| {
    ///         libc::umask(0o077);
    ///         Ok(())
    ///     });
    /// }
    /// ```
    pub unsafe fn pre_exec<F>(&mut self, f: F) -> &mut Self
    where
        F: FnMut() -> io::Result<()> + Send + Sync + 'static,
    {
        // SAFETY: the caller keeps std's contract.
        unsafe { self.std_mut().pre_exec(f) };
        self
    }
}
