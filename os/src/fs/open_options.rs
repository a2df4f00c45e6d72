//! Options for opening a file.

use std::fs;
use std::io;
use std::path::Path;

use super::File;
use crate::blocking::run;

/// Options for opening a file, like [`std::fs::OpenOptions`].
///
/// # Examples
///
/// ```
/// use windlass::fs::{self, OpenOptions};
///
/// # windlass::block_on(async {
/// let path = std::env::temp_dir().join(format!("windlass-log-{}", std::process::id()));
/// let log = OpenOptions::new().append(true).create(true).open(&path).await?;
/// log.write_all(b"started\n").await?;
/// # fs::remove_file(&path).await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions {
    std: fs::OpenOptions,
}

macro_rules! options {
    ($($name:ident $text:literal)*) => {
        $(#[doc = $text]
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::fs::OpenOptions;
        ///
        /// let mut options = OpenOptions::new();
        #[doc = concat!("options.", stringify!($name), "(true);")]
        /// ```
        pub fn $name(&mut self, yes: bool) -> &mut Self {
            self.std.$name(yes);
            self
        })*
    };
}

impl OpenOptions {
    /// Creates options that are all off.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::fs::OpenOptions;
    ///
    /// let options = OpenOptions::new();
    /// # drop(options);
    /// ```
    pub fn new() -> Self {
        Self { std: fs::OpenOptions::new() }
    }

    options! {
        read "Sets whether the file can be read."
        write "Sets whether the file can be written."
        append "Sets whether each write goes to the end that the file has at that time."
        truncate "Sets whether an existing file is emptied."
        create "Sets whether a missing file is created."
        create_new "Sets whether the file is created, and must not exist."
    }

    /// Returns std's options, to set those that only some systems have.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::fs::OpenOptions;
    ///
    /// let mut options = OpenOptions::new();
    /// options.as_std_mut().read(true);
    /// ```
    pub fn as_std_mut(&mut self) -> &mut fs::OpenOptions {
        &mut self.std
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::OpenOptions::open`], or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, OpenOptions};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-open-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&path).await?;
    /// # drop(file);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let (options, path) = (self.std.clone(), path.as_ref().to_owned());
        run(move || options.open(path)).await.map(File::from_std)
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl From<fs::OpenOptions> for OpenOptions {
    fn from(std: fs::OpenOptions) -> Self {
        Self { std }
    }
}
