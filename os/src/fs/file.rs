//! An open file.

mod cursor;
mod traits;
mod whole;

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use async_lock::Mutex;
use windlass_sync::primitives::Arc;

use super::OpenOptions;
use crate::blocking::run;
use crate::buffered::{Buffered, State};
use crate::policy::COPIED_AT_ONCE;
use crate::sys;

/// An open file.
///
/// It has a cursor, which [`read`](Self::read), [`write`](Self::write) and [`seek`](Self::seek) move. These
/// operations run one after the other, and a second task waits for the first. [`read_at`](Self::read_at) and
/// [`write_at`](Self::write_at) take a position, and any number of them can run at the same time.
///
/// These methods return when the OS has finished the operation. Through [`AsyncWrite`](futures_io::AsyncWrite), a write
/// is reported as done when it has started: **flush** or close the file before you drop it, or errors are lost.
///
/// Each call is one hop to the blocking pool, however many bytes it moves, so large buffers are faster than small ones:
/// [`read_to_end`](Self::read_to_end) is one hop, and futures-lite's `BufReader` combines small reads. On Linux,
/// reading bytes that are cached in memory needs no hop.
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
    /// Operations that use the cursor. Locked while one runs.
    stream: Mutex<Buffered<Arc<fs::File>>>,
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::File::open`], or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-open-{}", std::process::id()));
    /// fs::write(&path, "some text").await?;
    /// let file = File::open(&path).await?;
    /// # drop(file);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).open(path).await
    }

    /// Opens a file for writing. An existing file is emptied.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::File::create`], or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-create-{}", std::process::id()));
    /// let file = File::create(&path).await?;
    /// # drop(file);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path).await
    }

    /// Creates a file for reading and writing.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, such as `AlreadyExists`, or an error if the runtime is shutting down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-new-{}", std::process::id()));
    /// let file = File::create_new(&path).await?;
    /// assert!(File::create_new(&path).await.is_err());
    /// # drop(file);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn create_new(path: impl AsRef<Path>) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path).await
    }

    /// Returns options for opening a file.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-options-{}", std::process::id()));
    /// let file = File::options().append(true).create(true).open(&path).await?;
    /// # drop(file);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Wraps std's file.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::fs::File;
    ///
    /// let file = File::from_std(std::fs::File::open("Cargo.toml")?);
    /// # drop(file);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn from_std(std: fs::File) -> Self {
        let std = Arc::new(std);
        Self { stream: Mutex::new(Buffered::new(std.clone())), std }
    }

    /// Waits for running operations, and returns std's file. Its cursor is at the position that the caller has reached.
    ///
    /// # Errors
    ///
    /// Returns the error of an earlier write that was not returned yet, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-into-std-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// let file: std::fs::File = file.into_std().await?;
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn into_std(self) -> io::Result<fs::File> {
        let Self { std, stream } = self;
        let mut stream = stream.into_inner();
        stream.unread().await?;
        drop(stream);
        match Arc::try_unwrap(std) {
            Ok(file) => Ok(file),
            // An operation without a cursor, whose future was dropped, is still running.
            Err(shared) => shared.try_clone(),
        }
    }

    /// Reads some bytes at the cursor, and returns their number: at least one, unless the file ends there or `buf` is
    /// empty.
    ///
    /// Dropping the future loses nothing: the next read returns the bytes that this one has read.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::SeekFrom;
    ///
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-read-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// file.seek(SeekFrom::Start(0)).await?;
    /// assert_eq!(file.read(&mut [0; 16]).await?, 9);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream.lock().await.read(buf, at_once).await
    }

    /// Reads at the cursor until `buf` is full.
    ///
    /// A dropped future does not tell how much was read.
    ///
    /// # Errors
    ///
    /// Returns `UnexpectedEof` if the file ends first; otherwise the same errors as [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::SeekFrom;
    ///
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-exact-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// file.seek(SeekFrom::Start(0)).await?;
    /// let mut word = [0; 4];
    /// file.read_exact(&mut word).await?;
    /// assert_eq!(&word, b"some");
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read_exact(&self, mut buf: &mut [u8]) -> io::Result<()> {
        let mut stream = self.stream.lock().await;
        while !buf.is_empty() {
            let n = stream.read(buf, at_once).await?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            buf = &mut buf[n..];
        }
        Ok(())
    }

    /// Appends everything from the cursor to the end to `buf`, and returns the number of bytes.
    ///
    /// Dropping the future loses nothing: the next read returns the bytes that this one has read.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::SeekFrom;
    ///
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-end-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// file.seek(SeekFrom::Start(0)).await?;
    /// let mut contents = Vec::new();
    /// assert_eq!(file.read_to_end(&mut contents).await?, 9);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        self.stream.lock().await.read_to_end(buf).await
    }

    /// Writes all of `buf` at the cursor, and returns its length.
    ///
    /// Dropping the future does not undo a write that has started.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-write-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// assert_eq!(file.write(b"some text").await?, 9);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn write(&self, buf: &[u8]) -> io::Result<usize> {
        self.write_all(buf).await.map(|()| buf.len())
    }

    /// Writes all of `buf` at the cursor.
    ///
    /// Dropping the future does not undo a write that has started.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-write-all-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn write_all(&self, buf: &[u8]) -> io::Result<()> {
        self.stream.lock().await.write_all(buf, State::unread).await
    }

    /// Waits for running operations that use the cursor.
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

/// Reads bytes that are cached in memory, without a blocking thread.
fn at_once(file: &Arc<fs::File>, buf: &mut [u8]) -> Option<usize> {
    let len = buf.len().min(COPIED_AT_ONCE);
    sys::read_cached(file, &mut buf[..len], None)
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("File").field(&self.std).finish()
    }
}
