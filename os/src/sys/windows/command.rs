//! The settings of a command that exist on Windows only.

use std::ffi::OsStr;
use std::os::windows::process::CommandExt;

use crate::process::Command;

impl Command {
    /// Sets the flags of `CreateProcess`. Windows only.
    pub fn creation_flags(&mut self, flags: u32) -> &mut Self {
        self.std_mut().creation_flags(flags);
        self
    }

    /// Adds text to the command line as it is, without quotes or escapes. Windows only.
    pub fn raw_arg<S: AsRef<OsStr>>(&mut self, text: S) -> &mut Self {
        self.std_mut().raw_arg(text);
        self
    }
}
