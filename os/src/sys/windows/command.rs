//! The settings of a command that exist on Windows only.

use std::ffi::OsStr;
use std::os::windows::process::CommandExt;

use crate::process::Command;

impl Command {
    /// Sets the flags of `CreateProcess`. Windows only.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use windlass::process::Command;
    ///
    /// const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    ///
    /// # windlass::block_on(async {
    /// let status = Command::new("where").arg("cmd").creation_flags(CREATE_NO_WINDOW).status().await?;
    /// assert!(status.success());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn creation_flags(&mut self, flags: u32) -> &mut Self {
        self.std_mut().creation_flags(flags);
        self
    }

    /// Adds text to the command line as it is, without quotes or escapes. Windows only.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use windlass::process::Command;
    ///
    /// # windlass::block_on(async {
    /// let output = Command::new("cmd").raw_arg("/c echo \"as it is\"").output().await?;
    /// assert!(output.status.success());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn raw_arg<S: AsRef<OsStr>>(&mut self, text: S) -> &mut Self {
        self.std_mut().raw_arg(text);
        self
    }
}
