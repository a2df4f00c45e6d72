//! The standard input.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use async_lock::Mutex;
use futures_io::AsyncRead;

use crate::buffered::Buffered;
use crate::sys::{Input, StandardInput};

/// Returns the standard input of the process.
///
/// Reading never blocks a worker. On Unix the poller waits until there is something to read, and only then does a
/// thread of the blocking pool read it, so that a program can end while a task waits for input. (A file is always
/// ready, so it is read at once.) On Windows a thread of the pool waits for the input, and a shutdown waits for that
/// thread until its deadline.
///
/// Create one value and keep it: bytes that a dropped read has taken stay in it for the next read. Bytes in the buffer
/// of [`std::io::stdin`] are not visible here, so don't use both.
///
/// For lines, put futures-lite's `BufReader` around it.
///
/// # Examples
///
/// ```no_run
/// use futures_lite::{AsyncBufReadExt, StreamExt, io::BufReader};
///
/// # windlass::block_on(async {
/// let mut lines = BufReader::new(windlass::io::stdin()).lines();
/// while let Some(line) = lines.next().await {
///     println!("{}", line?.to_uppercase());
/// }
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub fn stdin() -> Stdin {
    let input = StandardInput::new();
    let stream = Buffered::new(input.input());
    Stdin { inner: Mutex::new(Inner { input, stream }) }
}

/// The standard input; see [`stdin`].
pub struct Stdin {
    inner: Mutex<Inner>,
}

struct Inner {
    input: StandardInput,
    stream: Buffered<Input>,
}

impl Stdin {
    /// Reads some bytes, and returns their number: at least one, unless the input has ended or `buf` is empty.
    ///
    /// Dropping the future loses nothing: the next read of this value returns the bytes that this one has read.
    ///
    /// # Errors
    ///
    /// Returns the OS's error, or an error if the runtime shuts down.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # windlass::block_on(async {
    /// let input = windlass::io::stdin();
    /// let mut buf = [0; 1024];
    /// let n = input.read(&mut buf).await?;
    /// println!("{n} bytes");
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        let mut inner = self.inner.lock().await;
        std::future::poll_fn(|cx| inner.poll_read(cx, buf)).await
    }

    /// Appends everything up to the end of the input to `buf`, and returns the number of bytes.
    ///
    /// Dropping the future loses nothing: bytes that were read are in `buf`, or stay for the next read.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`read`](Self::read).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # windlass::block_on(async {
    /// let mut all = Vec::new();
    /// windlass::io::stdin().read_to_end(&mut all).await?;
    /// println!("{} bytes", all.len());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub async fn read_to_end(&self, buf: &mut Vec<u8>) -> io::Result<usize> {
        let before = buf.len();
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match self.read(&mut chunk).await? {
                0 => return Ok(buf.len() - before),
                n => buf.extend_from_slice(&chunk[..n]),
            }
        }
    }
}

impl Inner {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        if !buf.is_empty() && !ready!(self.stream.poll_has_input(cx))? {
            ready!(self.input.poll_ready(cx))?;
        }
        self.stream.poll_read(cx, buf, |_, _| None)
    }
}

impl AsyncRead for Stdin {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.inner.get_mut().poll_read(cx, buf)
    }
}

impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdin").finish_non_exhaustive()
    }
}
