//! Joining two streams, both ways: the heart of a proxy.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_io::{AsyncRead, AsyncWrite};
use windlass_runtime::timer::{self, Sleep};

use super::copy::BUFFER;
use super::transfer::Transfer;

/// Copies between two streams, both ways at a time, until both have ended; returns how many bytes went from `a` to
/// `b` and from `b` to `a`.
///
/// When one stream ends, what it has sent is passed on, the other is closed for writing (TCP's half-close), and its
/// answer still comes back. A side that reads slowly holds up the other: there is never more than a buffer, of
/// 64 KiB at most, under way in a direction.
///
/// This waits for as long as it takes. [`CopyOptions`] has a time-out for connections on which nothing moves.
///
/// Dropping the future leaves both streams open, and loses what is in the two buffers.
///
/// # Errors
///
/// The first that either stream returns. Neither is closed then: drop them.
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

/// Says how two streams are joined.
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
    /// Returns the options of [`copy_bidirectional`]: 64 KiB a direction at most, and no time-out.
    pub fn new() -> Self {
        Self { buffer_size: BUFFER, idle_timeout: None }
    }

    /// Sets the size that the buffer of each direction may get, in bytes. It starts with a part of that, and grows
    /// while reads fill it.
    #[must_use]
    pub fn buffer_size(mut self, bytes: usize) -> Self {
        self.buffer_size = bytes;
        self
    }

    /// Ends the copy with `TimedOut` when for that long no byte has moved in either direction. A connection of which one
    /// direction has ended is idle as much as any other.
    #[must_use]
    pub fn idle_timeout(mut self, time: Duration) -> Self {
        self.idle_timeout = Some(time);
        self
    }

    /// Copies between two streams as [`copy_bidirectional`] does, with these options.
    ///
    /// # Errors
    ///
    /// When the future is awaited: the first that either stream returns, or `TimedOut`. Neither is closed then.
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

/// When something moved last.
struct Idle {
    timeout: Duration,
    /// Put off when it goes off, and not each time that something moves.
    timer: Sleep,
    moved: u64,
    moved_at: Instant,
}

impl Idle {
    fn new(timeout: Duration) -> Self {
        Self { timeout, timer: timer::sleep(timeout), moved: 0, moved_at: timer::now() }
    }

    /// Ready when nothing has moved for too long.
    fn poll(&mut self, cx: &mut Context<'_>, moved: u64) -> Poll<io::Error> {
        if moved != self.moved {
            (self.moved, self.moved_at) = (moved, timer::now());
        }
        while Pin::new(&mut self.timer).poll(cx).is_ready() {
            // A time that the clock can't say never comes, and its timer does not go off.
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
    /// How many bytes have gone from the first to the second so far, and back. Also after an error.
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
        // Both are polled, whatever the other does, so that both are woken.
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
