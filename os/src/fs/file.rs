//! An open file.

use std::fmt;
use std::fs::{self, Metadata, Permissions};
use std::io::{self, SeekFrom};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_lock::Mutex;
use futures_io::{AsyncRead, AsyncSeek, AsyncWrite};
use windlass_sync::primitives::Arc;

use super::OpenOptions;
use crate::blocking::run;
use crate::buffered::{Buffered, State};
use crate::sys;

/// The most that a worker copies out of the OS's memory by itself; more takes a thread that may block.
const AT_ONCE: usize = 128 * 1024;

/// An open file.
///
/// It has a cursor, which [`read`](Self::read), [`write`](Self::write) and [`seek`](Self::seek) move. They are done one after the
/// other; a second task waits for its turn. [`read_at`](Self::read_at) and [`write_at`](Self::write_at) have a position
/// of their own, and any number of them go on at a time.
///
/// These methods have done their work when they return. By way of [`AsyncWrite`] a write counts as done when it has
/// begun: **flush** or close before dropping the file, or errors are not seen.
///
/// Each call is one hop to the blocking pool, however much it moves, so big pieces are faster than small ones:
/// [`read_to_end`](Self::read_to_end) is one hop, and futures-lite's `BufReader` makes few of many. On Linux, reading what is in memory
/// takes none.
///
/// # Examples
///
/// ```
/// use std::io::SeekFrom;
/// use windlass::fs::{self, File, OpenOptions};
///
/// # windlass::block_on(async {
/// let path = std::env::temp_dir().join(format!("windlass-file-{}", std::process::id()));
/// let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).await?;
/// file.write_all(b"hello, disk").await?;
/// file.seek(SeekFrom::Start(7)).await?;
/// let mut rest = Vec::new();
/// file.read_to_end(&mut rest).await?;
/// assert_eq!(rest, b"disk");
///
/// let mut word = [0; 5];
/// assert_eq!(file.read_at(&mut word, 0).await?, 5);
/// assert_eq!(&word, b"hello");
/// file.sync_all().await?;
/// fs::remove_file(&path).await?;
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub struct File {
    std: Arc<fs::File>,
    /// The cursor's side. Held for as long as an operation takes.
    stream: Mutex<Buffered<Arc<fs::File>>>,
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// As for [`std::fs::File::open`], or if the runtime is shutting down.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).open(path).await
    }

    /// Opens a file for writing. One that is there is emptied.
    ///
    /// # Errors
    ///
    /// As for [`std::fs::File::create`], or if the runtime is shutting down.
    pub async fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path).await
    }

    /// Makes a file, for reading and writing.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` if it is there, what else the OS says, or if the runtime is shutting down.
    pub async fn create_new(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path).await
    }

    /// Returns options to open a file with.
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Takes over std's file.
    pub fn from_std(std: fs::File) -> Self {
        let std = Arc::new(std);
        Self { stream: Mutex::new(Buffered::new(std.clone())), std }
    }

    /// Waits for what is under way and returns std's file, with the cursor where it ought to be.
    ///
    /// # Errors
    ///
    /// If a write failed that nobody has been told of, or if the runtime shuts down.
    pub async fn into_std(self) -> io::Result<fs::File> {
        let Self { std, stream } = self;
        let mut stream = stream.into_inner();
        stream.unread().await?;
        drop(stream);
        match Arc::try_unwrap(std) {
            Ok(file) => Ok(file),
            // An operation without a cursor, whose future was dropped, is still under way.
            Err(shared) => shared.try_clone(),
        }
    }

    /// Reads some bytes at the cursor: at least one, unless the file ends there or `buf` is empty.
    ///
    /// Dropping the future loses nothing: the next read gets what this one has read.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    pub async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut stream = self.stream.lock().await;
        std::future::poll_fn(|cx| stream.poll_read(cx, buf, at_once)).await
    }

    /// Fills `buf` from the cursor on.
    ///
    /// Dropping the future half-way does not say how much was read.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` if the file ends before, or as for [`read`](Self::read).
    pub async fn read_exact(&self, mut buf: &mut [u8]) -> io::Result<()> {
        let mut stream = self.stream.lock().await;
        while !buf.is_empty() {
            let n = std::future::poll_fn(|cx| stream.poll_read(cx, buf, at_once)).await?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buf = &mut buf[n..];
        }
        Ok(())
    }

    /// Appends everything from the cursor to the end to `buf`, and returns how much that was.
    ///
    /// Dropping the future loses nothing: the next read gets what this one has read.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`read`](Self::read).
    pub async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        self.stream.lock().await.read_to_end(buf).await
    }

    /// Writes all of `buf` at the cursor, and returns its length.
    ///
    /// Dropping the future does not take the write back, once that has begun.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    pub async fn write(&self, buf: &[u8]) -> io::Result<usize> {
        self.write_all(buf).await.map(|()| buf.len())
    }

    /// Writes all of `buf` at the cursor.
    ///
    /// Dropping the future does not take the write back, once that has begun.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write`](Self::write).
    pub async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
        self.stream.lock().await.write_all(buf, State::unread).await
    }

    /// Moves the cursor, and returns where it is now, counted from the start.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    pub async fn seek(&self, position: SeekFrom) -> io::Result<u64> {
        let mut stream = self.stream.lock().await;
        std::future::poll_fn(|cx| stream.poll_seek(cx, position)).await
    }

    /// Reads some bytes at `offset`, and leaves the cursor alone (on Windows it moves behind what was read).
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    pub async fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = buf.len().min(AT_ONCE);
        if let Some(n) = sys::read_cached(&self.std, &mut buf[..len], Some(offset)) {
            windlass_runtime::task::consume_budget().await;
            return Ok(n);
        }
        let (file, len) = (self.std.clone(), buf.len());
        let bytes = run(move || {
            let mut bytes = vec![0; len];
            let n = sys::read_at(&file, &mut bytes, offset)?;
            bytes.truncate(n);
            Ok(bytes)
        })
        .await?;
        buf[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }

    /// Writes some bytes at `offset`, and leaves the cursor alone (on Windows it moves behind what was written).
    ///
    /// Dropping the future does not take the write back.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    pub async fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        let (file, bytes) = (self.std.clone(), buf.to_owned());
        run(move || sys::write_at(&file, &bytes, offset)).await
    }

    /// Waits until contents and metadata are on the disk.
    ///
    /// # Errors
    ///
    /// What the OS says, also of a write that nobody was told of, or if the runtime shuts down.
    pub async fn sync_all(&self) -> io::Result<()> {
        self.settle().await?;
        self.with(fs::File::sync_all).await
    }

    /// Waits until the contents are on the disk, and as much of the metadata as it takes to read them.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`sync_all`](Self::sync_all).
    pub async fn sync_data(&self) -> io::Result<()> {
        self.settle().await?;
        self.with(fs::File::sync_data).await
    }

    /// Cuts the file, or fills it up with zeroes. The cursor stays where it is.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`sync_all`](Self::sync_all).
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        self.settle().await?;
        self.with(move |file| file.set_len(size)).await
    }

    /// Tells about the file.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.with(fs::File::metadata).await
    }

    /// Changes who may do what with the file.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.with(move |file| file.set_permissions(permissions)).await
    }

    /// Returns another file with the same cursor.
    ///
    /// # Errors
    ///
    /// What the OS says, also of a write that nobody was told of, or if the runtime shuts down.
    pub async fn try_clone(&self) -> io::Result<Self> {
        self.stream.lock().await.unread().await?;
        self.with(fs::File::try_clone).await.map(Self::from_std)
    }

    /// Waits for what is under way on the cursor's side.
    async fn settle(&self) -> io::Result<()> {
        let mut stream = self.stream.lock().await;
        std::future::poll_fn(|cx| stream.poll_flush(cx)).await
    }

    async fn with<T: Send + 'static>(
        &self,
        call: impl FnOnce(&fs::File) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let file = self.std.clone();
        run(move || call(&file)).await
    }

    pub(crate) fn as_std(&self) -> &fs::File {
        &self.std
    }
}

/// What a read may take without a thread that may block.
fn at_once(file: &Arc<fs::File>, buf: &mut [u8]) -> Option<usize> {
    let len = buf.len().min(AT_ONCE);
    sys::read_cached(file, &mut buf[..len], None)
}

impl From<fs::File> for File {
    fn from(std: fs::File) -> Self {
        Self::from_std(std)
    }
}

impl AsyncRead for File {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.get_mut().poll_read(cx, buf, at_once)
    }
}

/// A write counts as done when it has begun; flushing waits for it, and tells whether it has failed.
impl AsyncWrite for File {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.get_mut().poll_write(cx, buf, State::unread)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.get_mut().poll_flush(cx)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

impl AsyncSeek for File {
    fn poll_seek(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        position: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        self.stream.get_mut().poll_seek(cx, position)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("File").field(&self.std).finish()
    }
}
