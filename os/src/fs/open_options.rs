//! How a file is to be opened.

use std::fs;
use std::io;
use std::path::Path;

use super::File;
use crate::blocking::run;

/// Says how a file is to be opened, as [`std::fs::OpenOptions`] does.
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
        pub fn $name(&mut self, yes: bool) -> &mut Self {
            self.std.$name(yes);
            self
        })*
    };
}

impl OpenOptions {
    /// Returns options that say no to everything.
    pub fn new() -> Self {
        Self { std: fs::OpenOptions::new() }
    }

    options! {
        read "Whether it is for reading."
        write "Whether it is for writing."
        append "Whether all writes go to the end, wherever that is when they are made."
        truncate "Whether a file that is there is emptied."
        create "Whether the file is made if it is missing."
        create_new "Whether the file is made, and must not be there."
    }

    /// Std's options inside, for those that only some systems have.
    pub fn as_std_mut(&mut self) -> &mut fs::OpenOptions {
        &mut self.std
    }

    /// Opens the file.
    ///
    /// # Errors
    ///
    /// As for [`std::fs::OpenOptions::open`], or if the runtime is shutting down.
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
