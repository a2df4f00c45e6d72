//! Files and directories.
//!
//! No OS tells when a file can be read without waiting for the disk, so these functions are std's, run on threads of
//! the blocking pool, with as few hops as possible: each is one hop, whatever it does. Reads from a [`File`] whose bytes are in memory take
//! none on Linux (`RWF_NOWAIT`).
//!
//! **Dropping a future does not take the operation back**: it is carried out, or not, all the same. What a read
//! of a [`File`] has taken is given to the next one.
//!
//! Where there is more to do than one call (walk through a tree, read a thousand small files) a single
//! [`spawn_blocking`](windlass_runtime::spawn_blocking) around std's functions is faster than many calls of these.
//!
//! The errors are std's. Another one tells that the runtime is shutting down.
//!
//! # Examples
//!
//! ```
//! use windlass::fs;
//!
//! # windlass::block_on(async {
//! let path = std::env::temp_dir().join(format!("windlass-fs-{}", std::process::id()));
//! fs::write(&path, "some text").await?;
//! assert_eq!(fs::read_to_string(&path).await?, "some text");
//! assert_eq!(fs::metadata(&path).await?.len(), 9);
//! fs::remove_file(&path).await?;
//! assert!(!fs::try_exists(&path).await?);
//! # Ok::<(), std::io::Error>(())
//! # }).unwrap();
//! ```

mod dir_builder;
mod file;
mod open_options;
mod read_dir;

use std::fs::{Metadata, Permissions};
use std::io;
use std::path::{Path, PathBuf};

pub use dir_builder::DirBuilder;
pub use file::File;
pub use open_options::OpenOptions;
pub use read_dir::{DirEntry, ReadDir, read_dir};

// Windows tells links to files from links to directories.
#[cfg(unix)]
pub use crate::sys::symlink;
#[cfg(windows)]
pub use crate::sys::{symlink_dir, symlink_file};

use crate::blocking::run;

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $type:ident),*) -> $result:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// Dropping the future does not take the operation back.
        ///
        /// # Errors
        ///
        #[doc = concat!("As for [`std::fs::", stringify!($name), "`], or if the runtime is shutting down.")]
        pub async fn $name($($arg: impl AsRef<Path>),*) -> io::Result<$result> {
            $(let $arg: $type = $arg.as_ref().to_owned();)*
            run(move || std::fs::$name($($arg),*)).await
        }
    )*};
}

functions! {
    /// Reads all of a file.
    read(path: PathBuf) -> Vec<u8>;
    /// Reads all of a file, which must be UTF-8.
    read_to_string(path: PathBuf) -> String;
    /// Copies contents and permissions of a file, and returns how many bytes that were.
    copy(from: PathBuf, to: PathBuf) -> u64;
    /// Gives a file or a directory another name, and replaces what has that name.
    rename(from: PathBuf, to: PathBuf) -> ();
    /// Makes a second name for a file.
    hard_link(original: PathBuf, link: PathBuf) -> ();
    /// Tells about a file or a directory, following symbolic links.
    metadata(path: PathBuf) -> Metadata;
    /// Tells about a file, a directory or a symbolic link, and follows none.
    symlink_metadata(path: PathBuf) -> Metadata;
    /// Returns where a symbolic link points to.
    read_link(path: PathBuf) -> PathBuf;
    /// Returns the absolute path, without symbolic links in it.
    canonicalize(path: PathBuf) -> PathBuf;
    /// Makes a directory.
    create_dir(path: PathBuf) -> ();
    /// Makes a directory and those above it, where they are missing.
    create_dir_all(path: PathBuf) -> ();
    /// Removes a file.
    remove_file(path: PathBuf) -> ();
    /// Removes an empty directory.
    remove_dir(path: PathBuf) -> ();
    /// Removes a directory and all that is in it. Symbolic links are removed and not followed.
    remove_dir_all(path: PathBuf) -> ();
}

/// Writes all of a file; one that is there is replaced.
///
/// Dropping the future does not take the operation back.
///
/// # Errors
///
/// As for [`std::fs::write`], or if the runtime is shutting down.
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, contents) = (path.as_ref().to_owned(), contents.as_ref().to_owned());
    run(move || std::fs::write(path, contents)).await
}

/// Changes who may do what with a file or a directory.
///
/// Dropping the future does not take the operation back.
///
/// # Errors
///
/// As for [`std::fs::set_permissions`], or if the runtime is shutting down.
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run(move || std::fs::set_permissions(path, permissions)).await
}

/// Returns whether there is something of that name; symbolic links are followed.
///
/// # Errors
///
/// As for [`Path::try_exists`], or if the runtime is shutting down.
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    let path = path.as_ref().to_owned();
    run(move || path.try_exists()).await
}
