//! Access to files that std has no portable function for.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, DirEntryExt, FileExt, OpenOptionsExt};
use std::path::Path;

/// Reads at a position of the file, without moving its cursor.
pub(crate) fn read_at(file: &File, buf: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buf, offset)
}

/// Writes at a position of the file, without moving its cursor.
pub(crate) fn write_at(file: &File, buf: &[u8], offset: u64) -> io::Result<usize> {
    file.write_at(buf, offset)
}

/// Reads bytes that are cached in memory. Returns `None` if there are none, or if the OS can't tell.
#[cfg(target_os = "linux")]
pub(crate) fn read_cached(file: &File, buf: &mut [u8], offset: Option<u64>) -> Option<usize> {
    let buffer = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
    // Minus one is the file's cursor.
    let offset = offset.map_or(Some(-1), |offset| offset.try_into().ok())?;
    // SAFETY: there is one buffer, which is `buf`.
    let read = unsafe { libc::preadv2(file.as_raw_fd(), &buffer, 1, offset, libc::RWF_NOWAIT) };
    // Zero can't be trusted: some kernels (5.9, 5.10) return it when nothing is cached.
    usize::try_from(read).ok().filter(|read| *read > 0)
}

/// Reads bytes that are cached in memory. Returns `None` if there are none, or if the OS can't tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn read_cached(_file: &File, _buf: &mut [u8], _offset: Option<u64>) -> Option<usize> {
    None
}

/// Returns the number of descriptors that the process may have open, if there is a limit.
pub(crate) fn descriptor_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a place that the call writes to.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    #[allow(clippy::useless_conversion, reason = "it is signed on some systems")]
    let soft = u64::try_from(limit.rlim_cur).ok();
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(soft)?
}

/// The permissions of a new directory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DirMode(Option<u32>);

impl DirMode {
    pub(crate) fn apply(self, builder: &mut std::fs::DirBuilder) {
        if let Some(mode) = self.0 {
            builder.mode(mode);
        }
    }
}

impl crate::fs::DirBuilder {
    /// Sets the permissions of the directory, before the process's mask is applied. Unix only.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::fs::DirBuilder;
    ///
    /// let mut builder = DirBuilder::new();
    /// builder.mode(0o700);
    /// ```
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.mode = DirMode(Some(mode));
        self
    }
}

impl crate::fs::OpenOptions {
    /// Sets the permissions of a file that is created, before the process's mask is applied. Unix only.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::fs::OpenOptions;
    ///
    /// let mut options = OpenOptions::new();
    /// options.write(true).create(true).mode(0o600);
    /// ```
    pub fn mode(&mut self, mode: u32) -> &mut Self {
        self.as_std_mut().mode(mode);
        self
    }

    /// Passes flags on to `open`. Unix only.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::fs::OpenOptions;
    ///
    /// let mut options = OpenOptions::new();
    /// options.read(true).custom_flags(libc::O_NOFOLLOW);
    /// ```
    pub fn custom_flags(&mut self, flags: i32) -> &mut Self {
        self.as_std_mut().custom_flags(flags);
        self
    }
}

impl crate::fs::DirEntry {
    /// Returns the entry's inode number. Unix only.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs;
    /// # windlass::block_on(async {
    /// use std::os::unix::fs::MetadataExt;
    ///
    /// let mut entries = fs::read_dir("src").await?;
    /// let entry = entries.next_entry().await?.unwrap();
    /// assert_eq!(entry.ino(), entry.metadata().await?.ino());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn ino(&self) -> u64 {
        self.std.ino()
    }
}

impl AsFd for crate::fs::File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.as_std().as_fd()
    }
}

impl AsRawFd for crate::fs::File {
    fn as_raw_fd(&self) -> RawFd {
        self.as_std().as_raw_fd()
    }
}

/// Creates a symbolic link. Unix only.
///
/// # Errors
///
/// Returns the same errors as std's function of that name, or an error if the runtime is shutting down.
///
/// # Examples
///
/// ```
/// use windlass::fs;
///
/// # windlass::block_on(async {
/// # let link = std::env::temp_dir().join(format!("windlass-doc-symlink-{}", std::process::id()));
/// fs::symlink("/etc", &link).await?;
/// assert_eq!(fs::read_link(&link).await?.to_str(), Some("/etc"));
/// # fs::remove_file(&link).await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    crate::blocking::run(move || std::os::unix::fs::symlink(original, link)).await
}
