//! Options for creating a directory.

use std::io;
use std::path::Path;

use crate::blocking::run;
use crate::sys;

/// Options for creating a directory, like [`std::fs::DirBuilder`].
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
    /// Creates options for one directory, whose parent must exist.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::fs::DirBuilder;
    ///
    /// let builder = DirBuilder::new();
    /// # drop(builder);
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether missing parents are created as well. If so, an existing directory is not an error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, DirBuilder};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dirs-recursive-{}", std::process::id()));
    /// DirBuilder::new().recursive(true).create(path.join("a/b")).await?;
    /// # fs::remove_dir_all(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn recursive(&mut self, recursive: bool) -> &mut Self {
        self.recursive = recursive;
        self
    }

    /// Creates the directory.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::DirBuilder::create`], or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, DirBuilder};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-dirs-create-{}", std::process::id()));
    /// DirBuilder::new().create(&path).await?;
    /// # fs::remove_dir(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref().to_owned();
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(self.recursive);
        self.mode.apply(&mut builder);
        run(move || builder.create(path)).await
    }
}
