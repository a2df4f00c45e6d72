//! Files and directories.
//!
//! No OS reports when a file can be read without waiting for the disk. Therefore these functions run std's on threads
//! of the blocking pool. Each is one hop to the pool, whatever it does. On Linux, reads from a [`File`] whose bytes are
//! cached in memory need no hop (`RWF_NOWAIT`).
//!
//! **Dropping a future does not undo the operation**, which may still be performed. Bytes that a
//! dropped read of a [`File`] has taken are returned by the next read.
//!
//! For many operations at once, such as walking a tree or reading a thousand small files, a single
//! [`spawn_blocking`](windlass_runtime::spawn_blocking) around std's functions is faster.
//!
//! The errors are std's. If the runtime is shutting down, a further error says so.
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

// Windows distinguishes links to files from links to directories.
#[cfg(unix)]
pub use crate::sys::symlink;
#[cfg(windows)]
pub use crate::sys::{symlink_dir, symlink_file};

use crate::blocking::run;

macro_rules! functions {
    ($($(#[$doc:meta])* $example:literal $name:ident($($arg:ident: $type:ident),*) -> $result:ty;)*) => {$(
        $(#[$doc])*
        ///
        /// Dropping the future does not undo the operation.
        ///
        /// # Errors
        ///
        #[doc = concat!("Returns the same errors as [`std::fs::", stringify!($name), "`], or an error if the runtime is shutting down.")]
        ///
        /// # Examples
        ///
        /// ```
        /// use windlass::fs;
        ///
        /// # windlass::block_on(async {
        #[doc = concat!("# let dir = std::env::temp_dir().join(format!(\"windlass-doc-fs-", stringify!($name), "-{}\", std::process::id()));")]
        /// # fs::create_dir_all(&dir).await?;
        /// # let file = dir.join("file");
        /// # fs::write(&file, "some text").await?;
        #[doc = $example]
        /// # let _ = fs::remove_dir_all(&dir).await;
        /// # Ok::<(), std::io::Error>(())
        /// # }).unwrap();
        /// ```
        pub async fn $name($($arg: impl AsRef<Path>),*) -> io::Result<$result> {
            $(let $arg: $type = $arg.as_ref().to_owned();)*
            run(move || std::fs::$name($($arg),*)).await
        }
    )*};
}

functions! {
    /// Reads the contents of a file.
    "assert_eq!(fs::read(&file).await?, b\"some text\");"
    read(path: PathBuf) -> Vec<u8>;
    /// Reads the contents of a file, which must be UTF-8.
    "assert_eq!(fs::read_to_string(&file).await?, \"some text\");"
    read_to_string(path: PathBuf) -> String;
    /// Copies the contents and permissions of a file, and returns the number of bytes copied.
    "assert_eq!(fs::copy(&file, dir.join(\"copy\")).await?, 9);"
    copy(from: PathBuf, to: PathBuf) -> u64;
    /// Renames a file or a directory, replacing an existing one.
    "fs::rename(&file, dir.join(\"renamed\")).await?;"
    rename(from: PathBuf, to: PathBuf) -> ();
    /// Creates a hard link to a file.
    "fs::hard_link(&file, dir.join(\"link\")).await?;"
    hard_link(original: PathBuf, link: PathBuf) -> ();
    /// Returns the metadata of a file or a directory. Symbolic links are followed.
    "assert_eq!(fs::metadata(&file).await?.len(), 9);"
    metadata(path: PathBuf) -> Metadata;
    /// Returns the metadata of a file, a directory or a symbolic link, which is not followed.
    "assert!(fs::symlink_metadata(&file).await?.is_file());"
    symlink_metadata(path: PathBuf) -> Metadata;
    /// Returns the target of a symbolic link.
    "assert!(fs::read_link(&file).await.is_err()); // not a link"
    read_link(path: PathBuf) -> PathBuf;
    /// Returns the absolute path, with symbolic links resolved.
    "assert!(fs::canonicalize(&file).await?.is_absolute());"
    canonicalize(path: PathBuf) -> PathBuf;
    /// Creates a directory.
    "fs::create_dir(dir.join(\"a\")).await?;"
    create_dir(path: PathBuf) -> ();
    /// Creates a directory, and its parents if they are missing.
    "fs::create_dir_all(dir.join(\"a/b\")).await?;"
    create_dir_all(path: PathBuf) -> ();
    /// Removes a file.
    "fs::remove_file(&file).await?;\nassert!(!fs::try_exists(&file).await?);"
    remove_file(path: PathBuf) -> ();
    /// Removes an empty directory.
    "fs::create_dir(dir.join(\"a\")).await?;\nfs::remove_dir(dir.join(\"a\")).await?;"
    remove_dir(path: PathBuf) -> ();
    /// Removes a directory and everything in it. Symbolic links are removed, not followed.
    "fs::remove_dir_all(&dir).await?;\nassert!(!fs::try_exists(&dir).await?);"
    remove_dir_all(path: PathBuf) -> ();
}

/// Writes the contents of a file, replacing an existing one.
///
/// Dropping the future does not undo the operation.
///
/// # Errors
///
/// Returns the same errors as [`std::fs::write`], or an error if the runtime is shutting down.
///
/// # Examples
///
/// ```
/// # use windlass::fs;
/// # windlass::block_on(async {
/// # let path = std::env::temp_dir().join(format!("windlass-doc-fs-write-{}", std::process::id()));
/// fs::write(&path, "some text").await?;
/// # fs::remove_file(&path).await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn write(path: impl AsRef<Path>, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (path, contents) = (path.as_ref().to_owned(), contents.as_ref().to_owned());
    run(move || std::fs::write(path, contents)).await
}

/// Sets the permissions of a file or a directory.
///
/// Dropping the future does not undo the operation.
///
/// # Errors
///
/// Returns the same errors as [`std::fs::set_permissions`], or an error if the runtime is shutting down.
///
/// # Examples
///
/// ```
/// # use windlass::fs;
/// # windlass::block_on(async {
/// # let path = std::env::temp_dir().join(format!("windlass-doc-fs-permissions-{}", std::process::id()));
/// fs::write(&path, "some text").await?;
/// let mut permissions = fs::metadata(&path).await?.permissions();
/// permissions.set_readonly(true);
/// fs::set_permissions(&path, permissions).await?;
/// # let mut permissions = fs::metadata(&path).await?.permissions();
/// # permissions.set_readonly(false);
/// # fs::set_permissions(&path, permissions).await?;
/// # fs::remove_file(&path).await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    let path = path.as_ref().to_owned();
    run(move || std::fs::set_permissions(path, permissions)).await
}

/// Returns true if the path exists. Symbolic links are followed.
///
/// # Errors
///
/// Returns the same errors as [`Path::try_exists`], or an error if the runtime is shutting down.
///
/// # Examples
///
/// ```
/// # use windlass::fs;
/// # windlass::block_on(async {
/// assert!(fs::try_exists("src").await?);
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    let path = path.as_ref().to_owned();
    run(move || path.try_exists()).await
}
