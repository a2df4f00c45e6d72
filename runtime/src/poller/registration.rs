//! The registration of a descriptor with a poller, which sockets are built on.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::Poller;
use super::slab::Token;
use super::source::{Direction, Readiness, Seen, Source, WaiterKey};
use super::sys::{Descriptor, RawDescriptor};
use crate::coop;
use crate::gone::gone;
use crate::primitives::Arc;

/// Registers a non-blocking descriptor with the current runtime's poller for as long as it lives.
///
/// It must be dropped before the descriptor is closed: keep it in a field above the descriptor's.
pub struct Registration {
    poller: Arc<Poller>,
    pub(super) source: Arc<Source>,
    token: Token,
    descriptor: RawDescriptor,
}

// A panic leaves nothing half done that a registration could show.
impl std::panic::UnwindSafe for Registration {}
impl std::panic::RefUnwindSafe for Registration {}

impl Registration {
    /// Registers with the poller of the current runtime, or of the global runtime if there is none. The
    /// descriptor must be in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns the OS's error (`EPERM` for a regular file), or an error if the runtime is shutting down.
    pub fn new(descriptor: Descriptor<'_>) -> io::Result<Self> {
        crate::context::with_pool(|pool| Self::with(pool.poller(), descriptor))
    }

    /// Registers a descriptor that is known not to be ready: the first operation waits before it tries.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`new`](Self::new).
    pub fn unready(descriptor: Descriptor<'_>) -> io::Result<Self> {
        let source = Source::new();
        for direction in [Direction::Read, Direction::Write] {
            source.clear(direction, source.look(direction));
        }
        crate::context::with_pool(|pool| Self::of(pool.poller(), descriptor, source))
    }

    /// Registers a descriptor that is known to be writable, such as a connection on which nothing was sent yet.
    ///
    /// Waiting until it is writable returns at once, without asking the OS. If it is not writable, the first try finds
    /// out.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`new`](Self::new).
    pub fn writable(descriptor: Descriptor<'_>) -> io::Result<Self> {
        crate::context::with_pool(|pool| Self::of(pool.poller(), descriptor, Source::writable()))
    }

    pub(crate) fn with(poller: &Arc<Poller>, descriptor: Descriptor<'_>) -> io::Result<Self> {
        Self::of(poller, descriptor, Source::new())
    }

    fn of(poller: &Arc<Poller>, descriptor: Descriptor<'_>, source: Source) -> io::Result<Self> {
        let source = Arc::new(source);
        let (token, descriptor) = poller.register(descriptor, source.clone())?;
        Ok(Self { poller: poller.clone(), source, token, descriptor })
    }

    /// Tries an operation, and waits and tries again for as long as it returns `WouldBlock`.
    ///
    /// Dropping the future loses nothing: the operation is not running while it waits.
    ///
    /// # Errors
    ///
    /// Returns the operation's error, or an error if the runtime shuts down.
    pub fn io<R>(
        &self,
        direction: Direction,
        op: impl FnMut() -> io::Result<R>,
    ) -> impl Future<Output = io::Result<R>> {
        self.retry(direction, op, |_| false)
    }

    /// Moves bytes into or out of a buffer of length `wanted`; otherwise like [`io`](Self::io).
    ///
    /// Moving fewer bytes than `wanted` is taken to mean that nothing is left, which saves the
    /// `WouldBlock` of the next try. That is true of TCP, and of writes to Unix streams. It is not true
    /// of reads from Unix streams, which stop where descriptors were passed.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`io`](Self::io).
    pub fn io_bytes(
        &self,
        direction: Direction,
        wanted: usize,
        op: impl FnMut() -> io::Result<usize>,
    ) -> impl Future<Output = io::Result<usize>> {
        self.retry(direction, op, move |moved| is_short(*moved, wanted))
    }

    /// Does what [`io`](Self::io) does, for poll functions.
    ///
    /// One task per direction can wait this way: the last one that polled.
    pub fn poll_io<R>(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        op: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.poll_retry(direction, cx, op, |_| false)
    }

    /// Does what [`io_bytes`](Self::io_bytes) does, for poll functions; see [`poll_io`](Self::poll_io).
    pub fn poll_io_bytes(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        wanted: usize,
        op: impl FnMut() -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        self.poll_retry(direction, cx, op, |moved| is_short(*moved, wanted))
    }

    /// Tries `op` until it returns something other than `WouldBlock`. `drained` tells from its value
    /// whether the next try would return `WouldBlock`.
    async fn retry<R>(
        &self,
        direction: Direction,
        mut op: impl FnMut() -> io::Result<R>,
        drained: impl Fn(&R) -> bool,
    ) -> io::Result<R> {
        std::future::poll_fn(coop::poll_proceed).await;
        loop {
            let seen = self.source.look(direction);
            // Not through `ready`, whose future would be one more to poll.
            let seen = match seen.is_ready() {
                true => checked(seen)?,
                false => Ready { source: &self.source, direction, key: None }.await?,
            };
            if let Some(result) = self.attempt(direction, seen, &mut op, &drained) {
                return result;
            }
        }
    }

    fn poll_retry<R>(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        mut op: impl FnMut() -> io::Result<R>,
        drained: impl Fn(&R) -> bool,
    ) -> Poll<io::Result<R>> {
        ready!(coop::poll_proceed(cx));
        loop {
            let seen = ready!(self.poll_ready(direction, cx))?;
            if let Some(result) = self.attempt(direction, seen, &mut op, &drained) {
                return Poll::Ready(result);
            }
        }
    }

    /// Tries once. Returns `None` if the operation has to be tried again, at once or after an event.
    fn attempt<R>(
        &self,
        direction: Direction,
        seen: Seen,
        op: &mut impl FnMut() -> io::Result<R>,
        drained: &impl Fn(&R) -> bool,
    ) -> Option<io::Result<R>> {
        let result = op();
        match &result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.source.clear(direction, seen);
                return None;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return None,
            // After a hang-up every try returns at once, so there is nothing to wait for.
            Ok(value) if drained(value) && !seen.is_closed() => self.source.clear(direction, seen),
            _ => {}
        }
        coop::spend_io();
        Some(result)
    }

    /// Tries an operation once, without waiting. A `WouldBlock` is remembered, so that
    /// [`ready`](Self::ready) waits for the next event.
    ///
    /// # Errors
    ///
    /// Returns the operation's error.
    pub fn try_io<R>(
        &self,
        direction: Direction,
        op: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        let seen = self.source.look(direction);
        let result = op();
        if matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            self.source.clear(direction, seen);
        }
        result
    }

    /// Waits until an operation is worth trying. Any number of tasks may wait at a time; an event
    /// wakes them all.
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
    pub async fn ready(&self, direction: Direction) -> io::Result<Seen> {
        let seen = self.source.look(direction);
        if seen.is_ready() {
            return checked(seen);
        }
        Ready { source: &self.source, direction, key: None }.await
    }

    /// Waits until the OS has reported readiness, even before the first try; otherwise like
    /// [`ready`](Self::ready).
    ///
    /// # Errors
    ///
    /// Returns an error if the runtime shuts down.
    pub async fn reported(&self, direction: Direction) -> io::Result<Seen> {
        std::future::poll_fn(coop::poll_proceed).await;
        self.source.assume_nothing(direction);
        let seen = self.ready(direction).await;
        coop::spend_io();
        seen
    }

    /// Does what [`reported`](Self::reported) does, for poll functions; see [`poll_io`](Self::poll_io).
    pub fn poll_reported(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Seen>> {
        ready!(coop::poll_proceed(cx));
        self.source.assume_nothing(direction);
        let seen = ready!(self.poll_ready(direction, cx));
        coop::spend_io();
        Poll::Ready(seen)
    }

    /// Does what [`ready`](Self::ready) does, for poll functions; see [`poll_io`](Self::poll_io).
    pub fn poll_ready(&self, direction: Direction, cx: &mut Context<'_>) -> Poll<io::Result<Seen>> {
        let seen = self.source.look(direction);
        if seen.is_ready() {
            return Poll::Ready(checked(seen));
        }
        match self.source.wait(direction, &mut Some(WaiterKey::POLL), cx.waker()) {
            Some(seen) => Poll::Ready(checked(seen)),
            None => Poll::Pending,
        }
    }

    /// Returns true if the OS has not reported the direction yet, and it is not assumed to be ready.
    pub fn is_silent(&self, direction: Direction) -> bool {
        self.seen(direction).is_silent()
    }

    /// Wakes all waiting tasks to try again, as if an event had arrived for both directions.
    pub fn wake_all(&self) {
        let both = Readiness { read: true, write: true, ..Readiness::default() };
        let mut wake = Vec::new();
        self.source.event(both, &mut wake);
        super::wake_all(wake);
    }

    pub(super) fn is_of(&self, poller: &Arc<Poller>) -> bool {
        Arc::ptr_eq(&self.poller, poller)
    }

    /// Returns true once the runtime of this registration has shut down.
    pub fn is_gone(&self) -> bool {
        self.seen(Direction::Read).is_gone()
    }

    /// Ends the registration, and returns true if an event has arrived that nothing has cleared. No event
    /// arrives later.
    pub fn end(self, direction: Direction) -> bool {
        let source = self.source.clone();
        drop(self);
        source.look(direction).is_event()
    }

    /// Returns what is known of a direction now, for [`clear`](Self::clear).
    pub fn seen(&self, direction: Direction) -> Seen {
        self.source.look(direction)
    }

    /// Records that an operation that started from `seen` met `WouldBlock`, or used up what was reported.
    pub fn clear(&self, direction: Direction, seen: Seen) {
        self.source.clear(direction, seen);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.poller.deregister(self.token, self.descriptor);
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration").field("token", &self.token).finish_non_exhaustive()
    }
}

/// Returns true if a transfer that moved `moved` of `wanted` bytes left nothing to move. A transfer of zero bytes is
/// the end of the stream or an empty request, and says nothing.
fn is_short(moved: usize, wanted: usize) -> bool {
    moved > 0 && moved < wanted
}

#[inline]
pub(super) fn checked(seen: Seen) -> io::Result<Seen> {
    if seen.is_gone() {
        return Err(gone("the runtime that this descriptor is registered with has shut down"));
    }
    Ok(seen)
}

/// The future of [`Registration::ready`].
struct Ready<'a> {
    source: &'a Source,
    direction: Direction,
    key: Option<WaiterKey>,
}

impl Future for Ready<'_> {
    type Output = io::Result<Seen>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (source, direction) = (self.source, self.direction);
        match source.wait(direction, &mut self.key, cx.waker()) {
            Some(seen) => Poll::Ready(checked(seen)),
            None => Poll::Pending,
        }
    }
}

impl Drop for Ready<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.source.forget(self.direction, key);
        }
    }
}
