//! Getters for the settings of a [`Command`], like std's.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{CommandArgs, CommandEnvs};

use super::Command;

impl Command {
    /// Returns the program.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(windlass::process::Command::new("ls").get_program(), "ls");
    /// ```
    pub fn get_program(&self) -> &OsStr {
        self.as_std().get_program()
    }

    /// Returns the arguments, without the program.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// command.args(["-l", "/"]);
    /// assert!(command.get_args().eq(["-l", "/"]));
    /// ```
    pub fn get_args(&self) -> CommandArgs<'_> {
        self.as_std().get_args()
    }

    /// Returns the variables that were set, and those that were removed, as `None`. Inherited ones are not included.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// command.env("LANG", "C").env_remove("TERM");
    /// assert_eq!(command.get_envs().count(), 2);
    /// ```
    pub fn get_envs(&self) -> CommandEnvs<'_> {
        self.as_std().get_envs()
    }

    /// Returns the directory that was set, or `None` if the child starts in this process's directory.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::process::Command;
    ///
    /// let mut command = Command::new("ls");
    /// assert!(command.get_current_dir().is_none());
    /// command.current_dir("/tmp");
    /// assert_eq!(command.get_current_dir(), Some("/tmp".as_ref()));
    /// ```
    pub fn get_current_dir(&self) -> Option<&Path> {
        self.as_std().get_current_dir()
    }
}
