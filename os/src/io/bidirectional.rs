//! Copying between two streams in both directions, as a proxy does.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_io::{AsyncRead, AsyncWrite};
use windlass_runtime::timer::{self, Sleep};

use super::transfer::Transfer;
use crate::policy::COPY_BUFFER;

/// Copies between two streams in both directions until both have ended, and returns the number of bytes from `a` to
/// `b` and from `b` to `a`.
///
/// When one stream ends, the bytes that it has sent are passed on, and the other stream is closed for writing (TCP's
/// half-close). That stream's answer is still copied back. A peer that reads slowly slows the other one down, because
/// each direction buffers at most 64 KiB.
///
/// A peer that neither sends nor closes keeps this waiting forever. [`CopyOptions`] has a time-out
/// for idle connections.
///
/// Dropping the future leaves both streams open, and loses the bytes in the two buffers.
///
/// # Errors
///
/// Returns the first error of either stream. Neither stream is closed in that case: drop them.
///
/// # Examples
///
/// ```no_run
/// use windlass::io::copy_bidirectional;
/// use windlass::net::{TcpListener, TcpStream};
///
/// # windlass::block_on(async {
/// let listener = TcpListener::bind("127.0.0.1:7000").await?;
/// loop {
///     let (mut client, _) = listener.accept().await?;
///     drop(windlass::spawn(async move {
///         let mut server = TcpStream::connect("127.0.0.1:8000").await?;
///         copy_bidirectional(&mut client, &mut server).await
///     }));
/// }
/// # Ok::<(), std::io::Error>(())
/// # }).unwrap();
/// ```
pub async fn copy_bidirectional<A, B>(a: &mut A, b: &mut B) -> io::Result<(u64, u64)>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    CopyOptions::new().copy_bidirectional(a, b).await
}

/// Options for copying between two streams.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use windlass::io::CopyOptions;
/// # use windlass::net::TcpStream;
///
/// # async fn join(mut client: TcpStream, mut server: TcpStream) -> std::io::Result<()> {
/// let options = CopyOptions::new().idle_timeout(Duration::from_secs(60));
/// let (sent, received) = options.copy_bidirectional(&mut client, &mut server).await?;
/// println!("{sent} bytes there, {received} back");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CopyOptions {
    buffer_size: usize,
    idle_timeout: Option<Duration>,
}

impl CopyOptions {
    /// Creates the options of [`copy_bidirectional`]: at most 64 KiB per direction, and no time-out.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::io::CopyOptions;
    ///
    /// let options = CopyOptions::new();
    /// # drop(options);
    /// ```
    pub fn new() -> Self {
        Self { buffer_size: COPY_BUFFER, idle_timeout: None }
    }

    /// Sets the largest size of the buffer of each direction, in bytes. The buffer starts smaller,
    /// and grows while reads fill it.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::io::CopyOptions;
    ///
    /// let options = CopyOptions::new().buffer_size(16 * 1024);
    /// # drop(options);
    /// ```
    #[must_use]
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.buffer_size = bytes;
        self
    }

    /// Ends the copy with `TimedOut` when no byte has moved in either direction for this long. This also applies after
    /// one direction has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use windlass::io::CopyOptions;
    ///
    /// let options = CopyOptions::new().idle_timeout(Duration::from_secs(60));
    /// # drop(options);
    /// ```
    #[must_use]
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = Some(time);
        self
    }

    /// Copies between two streams like [`copy_bidirectional`], with these options.
    ///
    /// # Errors
    ///
    /// Awaiting it returns the first error of either stream, or `TimedOut`. Neither stream is closed in that case.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::io::CopyOptions;
    ///
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let client = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut a, _) = listener.accept().await?;
    /// # let server = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut b, _) = listener.accept().await?;
    /// # client.write_all(b"ping").await?;
    /// # client.shutdown(std::net::Shutdown::Write)?;
    /// # server.shutdown(std::net::Shutdown::Write)?;
    /// let (sent, received) = CopyOptions::new().copy_bidirectional(&mut a, &mut b).await?;
    /// assert_eq!((sent, received), (4, 0));
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn copy_bidirectional<'a, A, B>(
        &self,
        a: &'a mut A,
        b: &'a mut B,
    ) -> CopyBidirectional<'a, A, B>
    where
        A: AsyncRead + AsyncWrite + Unpin + ?Sized,
        B: AsyncRead + AsyncWrite + Unpin + ?Sized,
    {
        let idle = self.idle_timeout.map(Idle::new);
        CopyBidirectional {
            a,
            b,
            a_to_b: Transfer::new(self.buffer_size),
            b_to_a: Transfer::new(self.buffer_size),
            idle,
        }
    }
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// The future of [`CopyOptions::copy_bidirectional`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct CopyBidirectional<'a, A: ?Sized, B: ?Sized> {
    a: &'a mut A,
    b: &'a mut B,
    a_to_b: Transfer,
    b_to_a: Transfer,
    idle: Option<Idle>,
}

/// The time-out of an idle copy.
struct Idle {
    timeout: Duration,
    /// Reset when it fires, and not each time that bytes move.
    timer: Sleep,
    moved: u64,
    moved_at: Instant,
}

impl Idle {
    fn new(timeout: Duration) -> Self {
        Self { timeout, timer: timer::sleep(timeout), moved: 0, moved_at: timer::now() }
    }

    /// Polls until no byte has moved for too long.
    fn poll(&mut self, cx: &mut Context<'_>, moved: u64) -> Poll<io::Error> {
        if moved != self.moved {
            (self.moved, self.moved_at) = (moved, timer::now());
        }
        while Pin::new(&mut self.timer).poll(cx).is_ready() {
            // A deadline that the clock can't represent never comes, and its timer does not fire.
            let deadline = self.moved_at + self.timeout;
            if deadline <= timer::now() {
                let message = format!("no byte has moved for {:?}", self.timeout);
                return Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            self.timer.reset(deadline);
        }
        Poll::Pending
    }
}

impl<A: ?Sized, B: ?Sized> CopyBidirectional<'_, A, B> {
    /// Returns the numbers of bytes copied so far, from the first stream to the second and back. This also works after
    /// an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use windlass::io::CopyOptions;
    ///
    /// # use windlass::net::{TcpListener, TcpStream};
    /// # windlass::block_on(async {
    /// # let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// # let client = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut a, _) = listener.accept().await?;
    /// # let server = TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut b, _) = listener.accept().await?;
    /// # client.write_all(b"ping").await?;
    /// # client.shutdown(std::net::Shutdown::Write)?;
    /// # server.shutdown(std::net::Shutdown::Write)?;
    /// let mut copying = CopyOptions::new().copy_bidirectional(&mut a, &mut b);
    /// let result = (&mut copying).await;
    /// println!("{:?} bytes before {result:?}", copying.copied());
    /// # Ok::<(), std::io::Error>(())
    /// # }).unwrap();
    /// ```
    pub fn copied(&self) -> (u64, u64) {
        (self.a_to_b.total(), self.b_to_a.total())
    }
}

impl<A, B> Future for CopyBidirectional<'_, A, B>
where
    A: AsyncRead + AsyncWrite + Unpin + ?Sized,
    B: AsyncRead + AsyncWrite + Unpin + ?Sized,
{
    type Output = io::Result<(u64, u64)>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { a, b, a_to_b, b_to_a, idle } = &mut *self;
        // Both directions are polled, so that the task is woken for both.
        let there = a_to_b.poll(cx, Pin::new(&mut **a), Pin::new(&mut **b), true)?;
        let back = b_to_a.poll(cx, Pin::new(&mut **b), Pin::new(&mut **a), true)?;
        if let (Poll::Ready(there), Poll::Ready(back)) = (there, back) {
            return Poll::Ready(Ok((there, back)));
        }
        match idle {
            Some(idle) => idle.poll(cx, a_to_b.total() + b_to_a.total()).map(Err),
            None => Poll::Pending,
        }
    }
}

impl<A: ?Sized, B: ?Sized> fmt::Debug for CopyBidirectional<'_, A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyBidirectional").field("copied", &self.copied()).finish_non_exhaustive()
    }
}
