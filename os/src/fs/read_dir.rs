//! Reading the entries of a directory.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use windlass_sync::primitives::Arc;

use crate::blocking::{Blocking, run};
use crate::policy::DIR_ENTRIES;

/// Returns the entries of a directory.
///
/// # Errors
///
/// Returns the same errors as [`std::fs::read_dir`], or an error if the runtime is shutting down.
///
/// # Examples
///
/// ```
/// use windlass::fs;
///
/// # windlass::block_on(async {
/// let mut entries = fs::read_dir("src").await?;
/// while let Some(entry) = entries.next_entry().await? {
///     println!("{}", entry.path().display());
/// }
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    let path = path.as_ref().to_owned();
    // The first entries are read in the same hop.
    let listing = run(move || {
        let mut listing =
            Listing { entries: fs::read_dir(path)?, read: VecDeque::new(), is_over: false };
        listing.read_more();
        Ok(listing)
    })
    .await?;
    Ok(ReadDir { listing: Blocking::new(listing) })
}

/// The entries of a directory; see [`read_dir`]. It is also a [`Stream`].
pub struct ReadDir {
    listing: Blocking<Listing>,
}

struct Listing {
    entries: fs::ReadDir,
    read: VecDeque<io::Result<DirEntry>>,
    is_over: bool,
}

impl ReadDir {
    /// Returns the next entry, or `None` after the last one.
    ///
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down. Another call continues after the error.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs;
    /// # windlass::block_on(async {
    /// # let mut entries = fs::read_dir("src").await?;
    /// while let Some(entry) = entries.next_entry().await? {
    ///     println!("{}", entry.path().display());
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        std::future::poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// Does what [`next_entry`](Self::next_entry) does, for poll functions.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`next_entry`](Self::next_entry).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs;
    /// # windlass::block_on(async {
    /// # let mut entries = fs::read_dir("src").await?;
    /// let entry = std::future::poll_fn(|cx| entries.poll_next_entry(cx)).await?;
    /// assert!(entry.is_some());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        loop {
            let mut listing = ready!(self.listing.poll_idle(cx))?;
            if let Some(entry) = listing.read.pop_front() {
                return Poll::Ready(entry.map(Some));
            }
            if listing.is_over {
                return Poll::Ready(Ok(None));
            }
            drop(listing);
            self.listing.start(Listing::read_more);
        }
    }
}

impl Listing {
    fn read_more(&mut self) {
        self.read
            .extend(self.entries.by_ref().take(DIR_ENTRIES).map(|entry| entry.map(DirEntry::new)));
        self.is_over = self.read.len() < DIR_ENTRIES;
    }
}

impl Stream for ReadDir {
    type Item = io::Result<DirEntry>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_next_entry(cx).map(Result::transpose)
    }
}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadDir").finish_non_exhaustive()
    }
}

/// An entry of a directory.
#[derive(Clone, Debug)]
pub struct DirEntry {
    pub(crate) std: Arc<fs::DirEntry>,
    /// Set from the listing, on most systems.
    file_type: Option<FileType>,
}

impl DirEntry {
    fn new(std: fs::DirEntry) -> Self {
        Self { file_type: std.file_type().ok(), std: Arc::new(std) }
    }

    /// Returns the path of the entry: the path given to [`read_dir`], joined with the entry's name.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs;
    /// # windlass::block_on(async {
    /// # let mut entries = fs::read_dir("src").await?;
    /// # let entry = entries.next_entry().await?.unwrap();
    /// assert!(entry.path().starts_with("src"));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn path(&self) -> PathBuf {
        self.std.path()
    }

    /// Returns the entry's name.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs;
    /// # windlass::block_on(async {
    /// # let mut entries = fs::read_dir("src").await?;
    /// # let entry = entries.next_entry().await?.unwrap();
    /// println!("{:?}", entry.file_name());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn file_name(&self) -> OsString {
        self.std.file_name()
    }

    /// Returns the metadata of the entry. A symbolic link is not followed.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs;
    /// # windlass::block_on(async {
    /// # let mut entries = fs::read_dir("src").await?;
    /// # let entry = entries.next_entry().await?.unwrap();
    /// println!("{} bytes", entry.metadata().await?.len());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let entry = self.std.clone();
        run(move || entry.metadata()).await
    }

    /// Returns the type of the entry. A symbolic link is not followed.
    ///
    /// On most systems the type was read with the entry, so the call needs no hop to the blocking pool.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs;
    /// # windlass::block_on(async {
    /// # let mut entries = fs::read_dir("src").await?;
    /// # let entry = entries.next_entry().await?.unwrap();
    /// println!("a directory: {}", entry.file_type().await?.is_dir());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn file_type(&self) -> io::Result<FileType> {
        if let Some(file_type) = self.file_type {
            return Ok(file_type);
        }
        let entry = self.std.clone();
        run(move || entry.file_type()).await
    }
}
