//! A descriptor's membership in a poller: what sockets are built on.

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
    /// Registers with the poller of the current runtime, or of the global one outside of any. The
    /// descriptor must be in non-blocking mode.
    ///
    /// # Errors
    ///
    /// What the OS says (`EPERM` for a regular file), or an error if the runtime is shutting down.
    pub fn new(descriptor: Descriptor<'_>) -> io::Result<Self> {
        crate::context::with_pool(|pool| Self::with(pool.poller(), descriptor))
    }

    /// As [`new`](Self::new), for what is known not to be ready: waiting comes first, without a try.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn unready(descriptor: Descriptor<'_>) -> io::Result<Self> {
        let source = Source::new();
        for direction in [Direction::Read, Direction::Write] {
            source.clear(direction, source.look(direction));
        }
        crate::context::with_pool(|pool| Self::of(pool.poller(), descriptor, source))
    }

    /// As [`new`](Self::new), for what is known to be writable, such as a connection on which nothing was sent yet. To wait
    /// for that needs no word of the OS; if it is wrong, the first try tells.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
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

    /// Tries an operation, and waits and tries again for as long as it says `WouldBlock`.
    ///
    /// Dropping the future loses nothing: the operation is not running while it waits.
    ///
    /// # Errors
    ///
    /// What the operation says, or an error if the runtime shuts down.
    pub async fn io<R>(
        &self,
        direction: Direction,
        mut op: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        std::future::poll_fn(coop::poll_proceed).await;
        loop {
            let seen = self.ready(direction).await?;
            if let Some(result) = self.attempt(direction, seen, &mut op) {
                return result;
            }
        }
    }

    /// As [`io`](Self::io), for operations that move bytes into or out of a buffer of length
    /// `wanted`: moving fewer means that nothing is left, which saves the `WouldBlock` of the next
    /// try. Only where that is so: TCP, and writes to Unix streams, but not their reads, which stop
    /// where descriptors were passed.
    ///
    /// # Errors
    ///
    /// As [`io`](Self::io).
    pub async fn io_bytes(
        &self,
        direction: Direction,
        wanted: usize,
        mut op: impl FnMut() -> io::Result<usize>,
    ) -> io::Result<usize> {
        std::future::poll_fn(coop::poll_proceed).await;
        loop {
            let seen = self.ready(direction).await?;
            if let Some(result) = self.attempt(direction, seen, &mut op) {
                self.note_bytes(direction, wanted, seen, &result);
                return result;
            }
        }
    }

    /// As [`io`](Self::io), for poll functions. One task a direction may wait this way: the last
    /// that polled.
    pub fn poll_io<R>(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        mut op: impl FnMut() -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        ready!(coop::poll_proceed(cx));
        loop {
            let seen = ready!(self.poll_ready(direction, cx))?;
            if let Some(result) = self.attempt(direction, seen, &mut op) {
                return Poll::Ready(result);
            }
        }
    }

    /// As [`io_bytes`](Self::io_bytes), for poll functions; see [`poll_io`](Self::poll_io).
    pub fn poll_io_bytes(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
        wanted: usize,
        mut op: impl FnMut() -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        ready!(coop::poll_proceed(cx));
        loop {
            let seen = ready!(self.poll_ready(direction, cx))?;
            if let Some(result) = self.attempt(direction, seen, &mut op) {
                self.note_bytes(direction, wanted, seen, &result);
                return Poll::Ready(result);
            }
        }
    }

    /// One try; `None` if it is to be waited for, or tried again at once.
    fn attempt<R>(
        &self,
        direction: Direction,
        seen: Seen,
        op: &mut impl FnMut() -> io::Result<R>,
    ) -> Option<io::Result<R>> {
        match op() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.source.clear(direction, seen);
                None
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
            result => {
                coop::spend();
                Some(result)
            }
        }
    }

    /// Tries an operation once, without waiting. A `WouldBlock` is remembered, so that
    /// [`ready`](Self::ready) waits for the next event.
    ///
    /// # Errors
    ///
    /// What the operation says.
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
    /// If the runtime shuts down.
    pub async fn ready(&self, direction: Direction) -> io::Result<Seen> {
        let seen = self.source.look(direction);
        if seen.is_ready() {
            return checked(seen);
        }
        Ready { source: &self.source, direction, key: None }.await
    }

    /// As [`ready`](Self::ready), but waits for the OS's word also before the first try.
    ///
    /// # Errors
    ///
    /// If the runtime shuts down.
    pub async fn reported(&self, direction: Direction) -> io::Result<Seen> {
        std::future::poll_fn(coop::poll_proceed).await;
        self.source.assume_nothing(direction);
        let seen = self.ready(direction).await;
        coop::spend();
        seen
    }

    /// As [`reported`](Self::reported), for poll functions; see [`poll_io_bytes`](Self::poll_io_bytes).
    pub fn poll_reported(
        &self,
        direction: Direction,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Seen>> {
        ready!(coop::poll_proceed(cx));
        self.source.assume_nothing(direction);
        let seen = ready!(self.poll_ready(direction, cx));
        coop::spend();
        Poll::Ready(seen)
    }

    /// As [`ready`](Self::ready), for poll functions; see [`poll_io_bytes`](Self::poll_io_bytes).
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

    /// True if the OS has reported nothing of a direction yet, and it is not taken to be ready.
    pub fn is_silent(&self, direction: Direction) -> bool {
        self.seen(direction).is_silent()
    }

    /// Has all who wait try again, as if an event had come for both directions.
    pub fn wake_all(&self) {
        let both = Readiness { read: true, write: true, ..Readiness::default() };
        let mut wake = Vec::new();
        self.source.event(both, &mut wake);
        super::wake_all(wake);
    }

    pub(super) fn is_of(&self, poller: &Arc<Poller>) -> bool {
        Arc::ptr_eq(&self.poller, poller)
    }

    /// True once the runtime that it was made with has shut down.
    pub fn is_gone(&self) -> bool {
        self.seen(Direction::Read).is_gone()
    }

    /// Ends the registration, and says whether an event has come that nothing has cleared. None comes
    /// later.
    pub fn end(self, direction: Direction) -> bool {
        let source = self.source.clone();
        drop(self);
        source.look(direction).is_event()
    }

    /// What is known of a direction now, for [`clear`](Self::clear).
    pub fn seen(&self, direction: Direction) -> Seen {
        self.source.look(direction)
    }

    /// Says that an operation started from `seen` met `WouldBlock`, or has used up what was reported.
    pub fn clear(&self, direction: Direction, seen: Seen) {
        self.source.clear(direction, seen);
    }

    fn note_bytes(
        &self,
        direction: Direction,
        wanted: usize,
        seen: Seen,
        result: &io::Result<usize>,
    ) {
        // Nothing moved is the end of the stream or a request for nothing: neither tells what is
        // left.
        let short = matches!(result, Ok(moved) if *moved > 0 && *moved < wanted);
        if short && !seen.is_closed() {
            self.source.clear(direction, seen);
        }
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

pub(super) fn checked(seen: Seen) -> io::Result<Seen> {
    if seen.is_gone() {
        return Err(gone("the runtime that this descriptor is registered with has shut down"));
    }
    Ok(seen)
}

/// The wait behind [`Registration::ready`].
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
