//! Files and directories.

mod from_fd;

pub use std::fs::FileTimes;
use std::fs::{Metadata, Permissions};
use std::io::{self, SeekFrom};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::SystemTime;

use windlass::fs as ours;
pub use windlass::fs::{
    DirBuilder, DirEntry, ReadDir, canonicalize, copy, create_dir, create_dir_all, hard_link,
    metadata, read, read_dir, read_link, read_to_string, remove_dir, remove_dir_all, remove_file,
    rename, set_permissions, symlink, symlink_metadata, try_exists, write,
};

use crate::io::{AsyncSeek, impl_read, impl_write};

#[derive(Debug)]
pub struct File {
    inner: ours::File,
    seek: Option<SeekFrom>,
    /// The position after the last seek.
    position: u64,
}

impl File {
    fn of(inner: ours::File) -> Self {
        Self { inner, seek: None, position: 0 }
    }

    pub async fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        ours::File::open(path).await.map(Self::of)
    }

    pub async fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        ours::File::create(path).await.map(Self::of)
    }

    pub async fn create_new(path: impl AsRef<Path>) -> io::Result<Self> {
        ours::File::create_new(path).await.map(Self::of)
    }

    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    pub fn from_std(std: std::fs::File) -> Self {
        Self::of(ours::File::from_std(std))
    }

    pub async fn into_std(self) -> std::fs::File {
        self.inner.into_std().await.expect("the last write failed")
    }

    #[track_caller]
    pub fn try_into_std(self) -> Result<std::fs::File, Self> {
        crate::missing("`File::try_into_std`")
    }

    pub async fn sync_all(&self) -> io::Result<()> {
        self.inner.sync_all().await
    }

    pub async fn sync_data(&self) -> io::Result<()> {
        self.inner.sync_data().await
    }

    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        self.inner.set_len(size).await
    }

    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.inner.metadata().await
    }

    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.inner.set_permissions(permissions).await
    }

    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        self.inner.set_times(times).await
    }

    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.inner.set_modified(time).await
    }

    pub async fn try_clone(&self) -> io::Result<Self> {
        self.inner.try_clone().await.map(Self::of)
    }

    #[track_caller]
    pub fn set_max_buf_size(&mut self, _bytes: usize) {
        crate::missing("`File::set_max_buf_size`")
    }

    #[track_caller]
    pub fn max_buf_size(&self) -> usize {
        crate::missing("`File::max_buf_size`")
    }
}

impl_read!([] File, |this| &mut this.inner);
impl_write!([] File, |this| this.inner);

impl AsyncSeek for File {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        if self.seek.is_some() {
            return Err(io::Error::other(
                "other file operation is pending, call poll_complete before start_seek",
            ));
        }
        self.seek = Some(position);
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        if let Some(seek) = self.seek {
            let result =
                ready!(futures_io::AsyncSeek::poll_seek(Pin::new(&mut self.inner), cx, seek));
            self.seek = None;
            self.position = result?;
        }
        Poll::Ready(Ok(self.position))
    }
}

impl From<std::fs::File> for File {
    fn from(std: std::fs::File) -> Self {
        Self::from_std(std)
    }
}

#[derive(Clone, Debug)]
pub struct OpenOptions(ours::OpenOptions);

macro_rules! options {
    ($($name:ident: $type:ty,)*) => {
        $(
            pub fn $name(&mut self, value: $type) -> &mut Self {
                self.0.$name(value);
                self
            }
        )*
    };
}

impl OpenOptions {
    pub fn new() -> Self {
        Self(ours::OpenOptions::new())
    }

    options! {
        read: bool,
        write: bool,
        append: bool,
        truncate: bool,
        create: bool,
        create_new: bool,
        mode: u32,
        custom_flags: i32,
    }

    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        self.0.open(path).await.map(File::of)
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl From<std::fs::OpenOptions> for OpenOptions {
    fn from(std: std::fs::OpenOptions) -> Self {
        Self(std.into())
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.inner.as_raw_fd()
    }
}
