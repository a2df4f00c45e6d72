//! The operations of a [`File`] that do not use its cursor.

use std::fs::{self, FileTimes, Metadata, Permissions};
use std::io;
use std::time::SystemTime;

use super::File;
use crate::blocking::run;
use crate::policy::COPIED_AT_ONCE;
use crate::sys;

impl File {
    /// Reads some bytes at `offset`, and returns their number. The cursor does not move, except on Windows, where it
    /// moves to the end of the bytes.
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
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-read-at-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// let mut word = [0; 4];
    /// assert_eq!(file.read_at(&mut word, 5).await?, 4);
    /// assert_eq!(&word, b"text");
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let len = buf.len().min(COPIED_AT_ONCE);
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

    /// Writes some bytes at `offset`, and returns their number. The cursor does not move, except on Windows, where it
    /// moves to the end of the bytes.
    ///
    /// Dropping the future does not undo the write.
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
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-write-at-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// assert_eq!(file.write_at(b"text", 5).await?, 4);
    /// assert_eq!(file.metadata().await?.len(), 9);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<usize> {
        let (file, bytes) = (self.std.clone(), buf.to_owned());
        run(move || sys::write_at(&file, &bytes, offset)).await
    }

    /// Waits until the contents and the metadata are on the disk.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, which may be the unreported error of an earlier write, or an error if the runtime shuts
    /// down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-sync-all-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// file.sync_all().await?;
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn sync_all(&self) -> io::Result<()> {
        self.settle().await?;
        self.with(fs::File::sync_all).await
    }

    /// Waits until the contents are on the disk, with the metadata that is needed to read them.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`sync_all`](Self::sync_all).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-sync-data-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// file.sync_data().await?;
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn sync_data(&self) -> io::Result<()> {
        self.settle().await?;
        self.with(fs::File::sync_data).await
    }

    /// Truncates the file, or extends it with zeroes. The cursor does not move.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`sync_all`](Self::sync_all).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-set-len-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.set_len(100).await?;
    /// assert_eq!(file.metadata().await?.len(), 100);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        self.settle().await?;
        self.with(move |file| file.set_len(size)).await
    }

    /// Returns the metadata of the file.
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
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-metadata-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// assert!(file.metadata().await?.is_file());
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.with(fs::File::metadata).await
    }

    /// Sets the permissions of the file.
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
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-permissions-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// let permissions = file.metadata().await?.permissions();
    /// file.set_permissions(permissions).await?;
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.with(move |file| file.set_permissions(permissions)).await
    }

    /// Returns another handle to the same open file, which shares its cursor.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, which may be the unreported error of an earlier write, or an error if the runtime shuts
    /// down.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-clone-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// let clone = file.try_clone().await?;
    /// clone.write_all(b"some text").await?;
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn try_clone(&self) -> io::Result<Self> {
        self.stream.lock().await.unread().await?;
        self.with(fs::File::try_clone).await.map(Self::from_std)
    }

    /// Reads at `offset` until `buf` is full. The cursor does not move, except on Windows.
    ///
    /// # Errors
    ///
    /// Returns `UnexpectedEof` if the file ends first; otherwise the same errors as [`read_at`](Self::read_at).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-exact-at-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all(b"some text").await?;
    /// let mut word = [0; 4];
    /// file.read_exact_at(&mut word, 5).await?;
    /// assert_eq!(&word, b"text");
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match self.read_at(buf, offset).await {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    buf = &mut buf[n..];
                    offset += n as u64;
                }
                // On a network file system, a signal may end the call half-way.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes all of `buf` at `offset`. The cursor does not move, except on Windows.
    ///
    /// Dropping the future does not undo a write that has started.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`write_at`](Self::write_at).
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-all-at-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.write_all_at(b"some text", 2).await?;
    /// assert_eq!(fs::read(&path).await?, b"\0\0some text");
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn write_all_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let (file, bytes) = (self.std.clone(), buf.to_owned());
        run(move || {
            let (mut rest, mut offset) = (&bytes[..], offset);
            while !rest.is_empty() {
                match sys::write_at(&file, rest, offset) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(n) => {
                        rest = &rest[n..];
                        offset += n as u64;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
        .await
    }

    /// Sets the times of the last access and modification.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::fs::FileTimes;
    /// use std::time::{Duration, SystemTime};
    ///
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-times-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    /// file.set_times(FileTimes::new().set_modified(then)).await?;
    /// assert_eq!(file.metadata().await?.modified()?, then);
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        self.settle().await?;
        self.with(move |file| file.set_times(times)).await
    }

    /// Sets the time of the last modification.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`set_times`](Self::set_times).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::SystemTime;
    ///
    /// # use windlass::fs::{self, File};
    /// # windlass::block_on(async {
    /// # let path = std::env::temp_dir().join(format!("windlass-doc-file-modified-{}", std::process::id()));
    /// # let file = File::create_new(&path).await?;
    /// file.set_modified(SystemTime::now()).await?;
    /// # fs::remove_file(&path).await?;
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }
}
