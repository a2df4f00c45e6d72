//! The models' view of the poller: the real sources, registrations and the real thread's wait. Only the OS is a
//! stand-in, and the model raises its events.

use std::io;
use std::task::{Context, Waker};

use windlass_sync::Parker;

use super::foreign;
use super::source::{self, Direction, Readiness, Seen, WaiterKey};
use super::until::Until;
use super::{Clock, Poller, RawDescriptor, Registration};
use crate::primitives::{Arc, AtomicBool, Ordering};

/// Set while a thread was asked to call wakers, and has not begun.
#[derive(Default)]
pub struct Asked(foreign::Asked);

impl Asked {
    /// Returns true if a thread has to be asked.
    pub fn ask(&self) -> bool {
        self.0.ask()
    }

    /// Called by the thread that was asked.
    pub fn begin(&self) {
        self.0.begin();
    }
}

/// A source of events.
pub struct Source(source::Source);

impl Source {
    /// Creates a source of which nothing is known: its first operation has met `WouldBlock`.
    pub fn new() -> Self {
        let source = source::Source::new();
        for direction in [Direction::Read, Direction::Write] {
            source.clear(direction, source.look(direction));
        }
        Self(source)
    }

    /// Raises an event of the OS for one direction.
    pub fn event(&self, direction: Direction) {
        let mut wake = Vec::new();
        let read = direction == Direction::Read;
        let readiness = Readiness { read, write: !read, ..Readiness::default() };
        self.0.event(readiness, &mut wake);
        wake.into_iter().for_each(Waker::wake);
    }

    /// Returns the state of a direction.
    pub fn look(&self, direction: Direction) -> Seen {
        self.0.look(direction)
    }

    /// Returns true if an operation is worth trying.
    pub fn is_ready(&self, direction: Direction) -> bool {
        self.0.look(direction).is_ready()
    }

    /// Clears the readiness, after an operation that started from `seen` has met `WouldBlock`.
    pub fn clear(&self, direction: Direction, seen: Seen) {
        self.0.clear(direction, seen);
    }

    /// Waits for the next event. Returns true if there is one already.
    pub fn wait(&self, direction: Direction, waiter: &mut Waiter, waker: &Waker) -> bool {
        self.0.wait(direction, &mut waiter.0, waker).is_some()
    }

    /// Waits for a condition that events announce.
    pub async fn until(&self, direction: Direction, condition: impl Fn() -> bool + Unpin) {
        let condition = || condition().then_some(());
        Until::new(&self.0, direction, condition).await.expect("a source by itself does not go");
    }

    /// Stops waiting.
    pub fn forget(&self, direction: Direction, waiter: Waiter) {
        if let Some(key) = waiter.0 {
            self.0.forget(direction, key);
        }
    }
}

impl Default for Source {
    fn default() -> Self {
        Self::new()
    }
}

/// A waiter for a source.
#[derive(Debug, Default)]
pub struct Waiter(Option<WaiterKey>);

/// Something to be read from: a flag, with an event when it is set.
#[derive(Clone)]
pub struct Pipe(Arc<Inner>);

struct Inner {
    poller: Arc<Poller>,
    descriptor: RawDescriptor,
    /// Orders nothing.
    written: AtomicBool,
}

impl Pipe {
    pub(crate) fn new(poller: &Arc<Poller>, descriptor: RawDescriptor) -> Self {
        let written = AtomicBool::new(false);
        Self(Arc::new(Inner { poller: poller.clone(), descriptor, written }))
    }

    /// Registers it. Nothing is known of it, so the first try finds out.
    pub fn register(&self) -> Reader {
        let Inner { poller, descriptor, .. } = &*self.0;
        let registration =
            Registration::with(poller, descriptor).expect("models have no OS that could fail");
        Reader { registration, pipe: self.clone() }
    }

    /// Makes something available to read.
    pub fn write(&self) {
        self.0.written.store(true, Ordering::Relaxed);
        self.0.poller.selector.raise(self.0.descriptor);
    }
}

/// The registered end of a pipe.
pub struct Reader {
    registration: Registration,
    pipe: Pipe,
}

impl Reader {
    /// Waits until something was written.
    pub async fn read(&self) {
        assert!(self.read_or_end().await, "the pool is there");
    }

    /// Like [`read`](Self::read), but returns false if the pool has shut down.
    pub async fn read_or_end(&self) -> bool {
        let read = || match self.pipe.0.written.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Err(io::ErrorKind::WouldBlock.into()),
        };
        self.registration.io(Direction::Read, read).await.is_ok()
    }

    /// Returns true if no event has come since the last try.
    pub fn is_blank(&self) -> bool {
        !self.registration.source.look(Direction::Read).is_ready()
    }

    /// Waits for the next event, whose waker need not be a task's.
    pub fn wait_for_next(&self, waker: &Waker) {
        self.try_read();
        let next = self.registration.poll_ready(Direction::Read, &mut Context::from_waker(waker));
        assert!(next.is_pending());
    }

    /// Tries once. The result is remembered.
    pub fn try_read(&self) {
        let blocks = || io::Result::<()>::Err(io::ErrorKind::WouldBlock.into());
        let _ = self.registration.try_io(Direction::Read, blocks);
    }
}

/// The poller's thread, in the seat, and those that kick it.
pub struct Kicks(Arc<Poller>);

impl Kicks {
    /// A poller that nobody has kicked.
    pub fn new() -> Self {
        Self(Poller::new(1, false, Clock::of_the_os()).expect("models have no OS that could fail"))
    }

    /// Has the thread look.
    pub fn kick(&self) {
        self.0.kick();
    }

    /// Blocks the thread in the seat until it is kicked.
    pub fn wait(&self, parker: &Parker) {
        super::thread::sleep_in_seat(&self.0, parker, None);
    }

    /// Returns the parker that the thread sleeps on.
    pub fn parker(&self) -> Parker {
        self.0.take_parker()
    }
}

impl Default for Kicks {
    fn default() -> Self {
        Self::new()
    }
}
