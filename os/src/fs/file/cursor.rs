//! The operations of a [`File`] that concern its cursor, and conveniences that use it.

use std::io::{self, SeekFrom};

use super::File;

impl File {
    /// Moves the cursor, and returns its new position from the start.
    ///
    /// If the future is dropped, the cursor may or may not have moved.
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
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-seek-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// assert_eq!(file.seek(SeekFrom::Current(-4)).await?, 5);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn seek(&self, position: SeekFrom) -> io::Result<u64> {
        self.stream.lock().await.seek(position).await
    }

    /// Moves the cursor to the start.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`seek`](Self::seek).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-rewind-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// file.rewind().await?;
    /// assert_eq!(file.read(&mut [0; 16]).await?, 9);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn rewind(&self) -> io::Result<()> {
        self.seek(SeekFrom::Start(0)).await.map(drop)
    }

    /// Returns the position of the cursor from the start.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`seek`](Self::seek).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-position-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// assert_eq!(file.stream_position().await?, 9);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn stream_position(&self) -> io::Result<u64> {
        self.seek(SeekFrom::Current(0)).await
    }

    /// Appends everything from the cursor to the end to `buf`, and returns the number of bytes.
    ///
    /// A dropped future does not tell how much was read.
    ///
    /// # Errors
    ///
    /// Returns `InvalidData` if it is not UTF-8; otherwise the same errors as [`read`](Self::read).
    /// In both cases `buf` stays as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-string-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// file.rewind().await?;
    /// let mut contents = String::new();
    /// assert_eq!(file.read_to_string(&mut contents).await?, 9);
    /// assert_eq!(contents, "some text");
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read_to_string(&self, buf: &mut String) -> io::Result<usize> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).await?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        buf.push_str(text);
        Ok(text.len())
    }

    /// Waits for writes that were started through [`AsyncWrite`](futures_io::AsyncWrite). Writes through the methods
    /// here need no flush.
    ///
    /// # Errors
    ///
    /// Returns the error of such a write, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-flush-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// use futures_lite::AsyncWriteExt;
    ///
    /// let mut file = file;
    /// AsyncWriteExt::write_all(&mut file, b"some text").await?; // begun
    /// file.flush().await?;
    /// assert_eq!(fs::read(&path).await?, b"some text");
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn flush(&self) -> io::Result<()> {
        self.settle().await
    }
}
