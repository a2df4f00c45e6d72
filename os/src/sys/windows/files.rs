//! Access to files that std has no portable function for.

use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt;
use std::os::windows::io::{AsHandle, BorrowedHandle};
use std::path::Path;

use crate::blocking::run;

/// Reads at a position of the file, and moves its cursor to the end of the bytes.
pub(crate) fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buf, offset)
}

/// Writes at a position of the file, and moves its cursor to the end of the bytes.
pub(crate) fn write_at(file: &File, buf: &[u8], offset: u64) -> io::Result<usize> {
    file.seek_write(buf, offset)
}

/// Returns `None`: the OS does not report which bytes are in memory.
pub(crate) fn read_cached(_file: &File, _buf: &mut [u8], _offset: Option<u64>) -> Option<usize> {
    None
}

/// Returns `None`: handles and sockets have no limit that a process can ask for.
pub(crate) fn descriptor_limit() -> Option<u64> {
    None
}

/// Directories have no modes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DirMode;

impl DirMode {
    pub(crate) fn apply(self, _builder: &mut std::fs::DirBuilder) {}
}

impl AsHandle for crate::fs::File {
    fn as_handle(&self) -> BorrowedHandle<'_> {
        self.as_std().as_handle()
    }
}

/// Creates a symbolic link to a file. Windows only.
///
/// # Errors
///
/// Returns the same errors as std's function of that name, or an error if the runtime is shutting down.
///
/// # Examples
///
/// ```no_run
/// # windlass::block_on(async {
/// windlass::fs::symlink_file("data.txt", "latest.txt").await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn symlink_file(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    run(move || std::os::windows::fs::symlink_file(original, link)).await
}

/// Creates a symbolic link to a directory. Windows only.
///
/// # Errors
///
/// Returns the same errors as std's function of that name, or an error if the runtime is shutting down.
///
/// # Examples
///
/// ```no_run
/// # windlass::block_on(async {
/// windlass::fs::symlink_dir("release-7", "current").await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn symlink_dir(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    run(move || std::os::windows::fs::symlink_dir(original, link)).await
}
