//! A registered descriptor: its readiness, and the wakers that wait for it.
//!
//! The two directions are independent: a write event does not affect the readiness for reading.
//!
//! # Readiness
//!
//! Each direction has a word with the number of events so far (the generation) and a flag for readiness. An operation
//! that met `EAGAIN` clears the readiness *of the generation it started from*. If an event has arrived since, the
//! generation differs, and the newer readiness stands. Otherwise a wake-up would be lost by this sequence: try,
//! `EAGAIN`, **event**, clear, wait forever.
//!
//! # Waiting
//!
//! A waiter puts its waker into the list and reads the word again, both under the lock. An event sets the word first
//! and then, under the lock, takes the wakers out. So either the event finds the waker, or the waiter finds the event.

use std::task::Waker;

use crate::primitives::plain::{AtomicU32 as PlainU32, Ordering as Plain};
use crate::primitives::{AtomicUsize, Mutex, Ordering};
use crate::task::{self, Waits};

/// The direction of an operation: reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Ready when there is data, a connection or the end of the stream.
    Read = 0,
    /// Ready when data can be sent, or a connection attempt has ended.
    Write = 1,
}

/// The readiness that an event of the OS reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Readiness {
    /// Reading will not block.
    pub(crate) read: bool,
    /// Writing will not block.
    pub(crate) write: bool,
    /// The peer will send no more, or a read may stop before the end of the available data; implies `read`.
    pub(crate) read_ends: bool,
    /// The descriptor is in error or hung up; implies both.
    pub(crate) broken: bool,
}

/// Ready: an operation may be tried.
const READY: usize = 1 << 0;
/// A short read does not mean that nothing is left: the end of the stream, or data behind the mark of urgent data, may
/// follow. Never cleared.
const CLOSED: usize = 1 << 1;
/// The poller has shut down and will report no more events.
const GONE: usize = 1 << 2;
/// One event.
const GENERATION: usize = 1 << 3;

/// A snapshot of a direction's state, which is needed to clear its readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(usize);

impl Seen {
    /// Returns true if an operation is worth trying.
    pub(crate) fn is_ready(self) -> bool {
        self.0 & (READY | GONE) != 0
    }

    /// Returns true if nothing has been reported or tried yet, so that readiness is only assumed.
    fn is_assumed(self) -> bool {
        self.0 == READY
    }

    /// Returns true if nothing has been reported yet and readiness is not assumed.
    pub(crate) fn is_silent(self) -> bool {
        self.0 == 0
    }

    /// Returns true if the OS has reported readiness, even if the poller has shut down since.
    pub(crate) fn is_event(self) -> bool {
        self.0 & READY != 0
    }

    /// Returns true if a short read does not mean that nothing is left.
    pub(crate) fn is_closed(self) -> bool {
        self.0 & (CLOSED | GONE) != 0
    }

    /// Returns true if the poller has shut down.
    pub(crate) fn is_gone(self) -> bool {
        self.0 & GONE != 0
    }
}

/// Identifies a waiter of a source, so that it can be replaced and removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaiterKey(u64);

impl WaiterKey {
    /// The waiter of the poll-based interface. There is one per direction: the last.
    pub(crate) const POLL: WaiterKey = WaiterKey(0);
}

/// The source of events behind one registration.
pub(crate) struct Source {
    words: [AtomicUsize; 2],
    /// The number by which programs know the descriptor, for listings.
    number: PlainU32,
    waiters: Mutex<SourceWaiters>,
}

struct SourceWaiters {
    next_key: u64,
    lists: [WakerList; 2],
}

/// Nearly always none or one.
#[derive(Default)]
struct WakerList {
    first: Option<(WaiterKey, Waker)>,
    others: Vec<(WaiterKey, Waker)>,
}

impl Source {
    /// Creates a source that is assumed to be ready; the first operation finds out.
    pub(crate) fn new() -> Self {
        Self {
            words: [AtomicUsize::new(READY), AtomicUsize::new(READY)],
            number: PlainU32::new(0),
            waiters: Mutex::new(SourceWaiters { next_key: 1, lists: Default::default() }),
        }
    }

    /// Creates a source like [`new`](Self::new) that is known to be writable, as if the OS had reported it.
    pub(crate) fn writable() -> Self {
        let source = Self::new();
        source.set(Direction::Write, 0);
        source
    }

    /// Sets the number by which programs know the descriptor.
    pub(crate) fn set_number(&self, number: u32) {
        self.number.store(number, Plain::Relaxed);
    }

    /// Returns the state of a direction.
    pub(crate) fn look(&self, direction: Direction) -> Seen {
        // Acquire pairs with the Release in `event`.
        Seen(self.words[direction as usize].load(Ordering::Acquire))
    }

    /// Clears readiness that was only assumed. After the registration, the OS reports what is already ready.
    pub(crate) fn assume_nothing(&self, direction: Direction) {
        let seen = self.look(direction);
        if seen.is_assumed() {
            self.clear(direction, seen);
        }
    }

    /// Records an event and collects the wakers, which the caller wakes after all locks are released.
    pub(crate) fn event(&self, readiness: Readiness, wake: &mut Vec<Waker>) {
        let Readiness { read, write, read_ends, broken } = readiness;
        if read || read_ends || broken {
            self.set(Direction::Read, if read_ends || broken { CLOSED } else { 0 });
        }
        if write || broken {
            self.set(Direction::Write, if broken { CLOSED } else { 0 });
        }
        let mut waiters = self.waiters.lock();
        if read || read_ends || broken {
            waiters.lists[Direction::Read as usize].drain(wake);
        }
        if write || broken {
            waiters.lists[Direction::Write as usize].drain(wake);
        }
    }

    fn set(&self, direction: Direction, flags: usize) {
        let word = &self.words[direction as usize];
        let mut now = word.load(Ordering::Relaxed);
        loop {
            let ready = if flags == GONE { now & READY } else { READY };
            let next = (now | ready | flags).wrapping_add(GENERATION);
            // Release pairs with the Acquire in `look`.
            match word.compare_exchange_weak(now, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(changed) => now = changed,
            }
        }
    }

    /// Records that the poller has shut down: every operation fails from now on.
    pub(crate) fn gone(&self, wake: &mut Vec<Waker>) {
        self.set(Direction::Read, GONE);
        self.set(Direction::Write, GONE);
        let mut waiters = self.waiters.lock();
        waiters.lists.iter_mut().for_each(|list| list.drain(wake));
    }

    /// Clears the readiness after an operation that started from `seen` met `EAGAIN`, unless an event
    /// has arrived since.
    pub(crate) fn clear(&self, direction: Direction, seen: Seen) {
        // Nothing is published. If it fails, a newer event has changed the generation.
        let _ = self.words[direction as usize].compare_exchange(
            seen.0,
            seen.0 & !READY,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }

    /// Registers `waker` for the next event, unless the direction is ready. `key` identifies the waiter; if it is
    /// `None`, the waiter gets a new one. Once the direction is ready, the waiter need not be forgotten, and no longer
    /// has a key: an event has come since it got into the list, and takes all waiters out.
    pub(crate) fn wait(
        &self,
        direction: Direction,
        key: &mut Option<WaiterKey>,
        waker: &Waker,
    ) -> Option<Seen> {
        let seen = self.look(direction);
        if seen.is_ready() {
            *key = None;
            return Some(seen);
        }
        // Cloned, and the old one dropped, outside the lock: both may run user code.
        let mut waker = Some(waker.clone());
        let (seen, _old) = {
            let mut waiters = self.waiters.lock();
            let seen = self.look(direction);
            if seen.is_ready() {
                *key = None;
                (Some(seen), None)
            } else {
                let key = *key.get_or_insert_with(|| {
                    let key = WaiterKey(waiters.next_key);
                    waiters.next_key += 1;
                    key
                });
                let list = &mut waiters.lists[direction as usize];
                (None, waker.take().and_then(|waker| list.insert(key, waker)))
            }
        };
        if seen.is_none() {
            let number = self.number.load(Plain::Relaxed);
            task::note_wait(match direction {
                Direction::Read => Waits::Read(number),
                Direction::Write => Waits::Write(number),
            });
        }
        seen
    }

    /// Removes a waiter.
    pub(crate) fn forget(&self, direction: Direction, key: WaiterKey) {
        let _waker = self.waiters.lock().lists[direction as usize].remove(key);
    }
}

impl WakerList {
    /// Adds a waiter, or replaces and returns its waker.
    fn insert(&mut self, key: WaiterKey, waker: Waker) -> Option<Waker> {
        match &mut self.first {
            Some(entry) if entry.0 == key => Some(std::mem::replace(&mut entry.1, waker)),
            None if self.others.is_empty() => {
                self.first = Some((key, waker));
                None
            }
            _ => self.insert_behind(key, waker),
        }
    }

    #[cold]
    fn insert_behind(&mut self, key: WaiterKey, waker: Waker) -> Option<Waker> {
        if let Some(entry) = self.others.iter_mut().find(|entry| entry.0 == key) {
            return Some(std::mem::replace(&mut entry.1, waker));
        }
        if self.first.is_none() {
            self.first = Some((key, waker));
        } else {
            self.others.push((key, waker));
        }
        None
    }

    fn remove(&mut self, key: WaiterKey) -> Option<Waker> {
        if self.first.as_ref().is_some_and(|entry| entry.0 == key) {
            return self.first.take().map(|entry| entry.1);
        }
        let index = self.others.iter().position(|entry| entry.0 == key)?;
        Some(self.others.remove(index).1)
    }

    fn drain(&mut self, wake: &mut Vec<Waker>) {
        if let Some((_, waker)) = self.first.take() {
            wake.push(waker);
        }
        if !self.others.is_empty() {
            wake.extend(self.others.drain(..).map(|entry| entry.1));
        }
    }
}
