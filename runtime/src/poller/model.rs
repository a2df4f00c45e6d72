//! What the models see of the poller: the real sources and the real thread's wait.

use std::task::Waker;

use super::source::{self, Direction, Readiness, Seen, WaiterKey};
use super::{Clock, Poller};

/// A source of events.
pub struct Source(source::Source);

impl Source {
    /// A source that nothing is known of: its first operation has met `WouldBlock`.
    pub fn new() -> Self {
        let source = source::Source::new();
        for direction in [Direction::Read, Direction::Write] {
            source.clear(direction, source.look(direction));
        }
        Self(source)
    }

    /// An event of the OS for one direction.
    pub fn event(&self, direction: Direction) {
        let mut wake = Vec::new();
        let read = direction == Direction::Read;
        let readiness = Readiness { read, write: !read, ..Readiness::default() };
        self.0.event(readiness, &mut wake);
        wake.into_iter().for_each(Waker::wake);
    }

    /// What is known of a direction.
    pub fn look(&self, direction: Direction) -> Seen {
        self.0.look(direction)
    }

    /// True if an operation is worth trying.
    pub fn is_ready(&self, direction: Direction) -> bool {
        self.0.look(direction).is_ready()
    }

    /// An operation that started from `seen` met `WouldBlock`.
    pub fn clear(&self, direction: Direction, seen: Seen) {
        self.0.clear(direction, seen);
    }

    /// Waits for the next event; true if there is one already.
    pub fn wait(&self, direction: Direction, waiter: &mut Waiter, waker: &Waker) -> bool {
        self.0.wait(direction, &mut waiter.0, waker).is_some()
    }

    /// Waits no more.
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

/// One who waits for a source.
#[derive(Debug, Default)]
pub struct Waiter(Option<WaiterKey>);

/// The poller's thread and those who kick it.
pub struct Kicks(Poller);

impl Kicks {
    /// A poller that nobody has kicked.
    pub fn new() -> Self {
        Self(Poller::new(1, false, Clock::of_the_os()).expect("models have no OS that could fail"))
    }

    /// Has the thread look.
    pub fn kick(&self) {
        self.0.kick();
    }

    /// Blocks the thread until it is kicked.
    pub fn wait(&self) {
        self.0.wait(None).expect("models have no OS that could fail");
    }
}

impl Default for Kicks {
    fn default() -> Self {
        Self::new()
    }
}

impl Poller {
    /// Makes the poller believe that there is something to harvest from, so that workers sit.
    pub(crate) fn pretend_in_use(&self) {
        self.registered.store(1, super::Plain::Relaxed);
    }
}
