//! How a directory is to be made.

use std::io;
use std::path::Path;

use crate::blocking::run;
use crate::sys;

/// Says how a directory is to be made, as [`std::fs::DirBuilder`] does.
///
/// # Examples
///
/// ```
/// use windlass::fs::{self, DirBuilder};
///
/// # windlass::block_on(async {
/// let path = std::env::temp_dir().join(format!("windlass-dirs-{}", std::process::id()));
/// DirBuilder::new().recursive(true).create(path.join("a/b")).await?;
/// # fs::remove_dir_all(&path).await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
    pub(crate) mode: sys::DirMode,
}

impl DirBuilder {
    /// Returns a builder for one directory, whose parent must be there.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if the directories above are made, too. One that is there is no error then.
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// Makes the directory.
    ///
    /// # Errors
    ///
    /// As for [`std::fs::DirBuilder::create`], or if the runtime is shutting down.
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref().to_owned();
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(self.recursive);
        self.mode.apply(&mut builder);
        run(move || builder.create(path)).await
    }
}
