//! A wheel behind a lock, and its next deadline beside it. Each worker has one, and foreign threads
//! share a few.
//!
//! Fire, cancel, reset and poll of one timer are ordered by the lock. A timer has fired when its key
//! means nothing any more and the shard is not closed; its waker was taken out under the lock by whoever
//! fired it, and is woken after that. So a poll that finds the timer armed has its waker in the wheel, and
//! who fires later wakes it; one that finds it fired needs none.

use std::task::Waker;

use windlass_sync::primitives::{Arc, AtomicU64, Mutex, Ordering};

use crate::vigil::{NEVER, Vigil};
use crate::wheel::{Key, Wheel};

/// The timers of one worker.
// Two lines, for the prefetcher fetches them in pairs: workers must not share what they write.
#[repr(align(128))]
pub struct Shard {
    state: Mutex<State>,
    /// The wheel's next deadline, or an earlier time; written under the lock.
    next: AtomicU64,
    /// By how much its deadlines may be put off while workers are awake, who look by themselves.
    leniency: u64,
    vigil: Arc<Vigil>,
}

struct State {
    wheel: Wheel,
    closed: bool,
}

/// What became of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(loom), allow(unreachable_pub, reason = "models see it"))]
pub enum Outcome {
    /// Armed, with the waker last given.
    Pending,
    /// Its time has come.
    Fired,
    /// The runtime is gone, and will not fire it.
    Closed,
}

impl Shard {
    pub(crate) fn new(leniency: u64, vigil: Arc<Vigil>) -> Self {
        Self {
            state: Mutex::new(State { wheel: Wheel::new(), closed: false }),
            next: AtomicU64::new(NEVER),
            leniency,
            vigil,
        }
    }

    /// The runtime's time.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.vigil.now()
    }

    /// The next deadline, or an earlier time.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// As [`next`](Self::next), put off by the shard's leniency, but by no more than `most`.
    pub(crate) fn next_within(&self, most: u64) -> u64 {
        self.next().saturating_add(self.leniency.min(most))
    }

    /// Arms a timer.
    ///
    /// # Errors
    ///
    /// If the shard is closed: the waker.
    pub(crate) fn arm(&self, deadline: u64, waker: Waker) -> Result<Key, Waker> {
        let mut state = self.state.lock();
        if state.closed {
            return Err(waker);
        }
        let key = state.wheel.insert(deadline, waker);
        let earliest = self.publish(deadline);
        drop(state);
        if earliest {
            self.rely(deadline);
        }
        Ok(key)
    }

    /// Cancels a timer. Its waker is dropped by the caller, outside of the lock.
    pub(crate) fn cancel(&self, key: Key) -> Option<Waker> {
        self.state.lock().wheel.remove(key)
    }

    /// Moves a timer that has not fired to another time; it keeps its waker.
    pub(crate) fn reset(&self, key: Key, deadline: u64) -> Outcome {
        let mut state = self.state.lock();
        if state.wheel.reset(key, deadline).is_none() {
            return if state.closed { Outcome::Closed } else { Outcome::Fired };
        }
        let earliest = self.publish(deadline);
        drop(state);
        if earliest {
            self.rely(deadline);
        }
        Outcome::Pending
    }

    /// Has a timer that has not fired wake `waker`.
    pub(crate) fn poll(&self, key: Key, waker: &Waker) -> Outcome {
        let (is_same, closed) = {
            let state = self.state.lock();
            (state.wheel.waker(key).map(|old| old.will_wake(waker)), state.closed)
        };
        let gone = |closed| if closed { Outcome::Closed } else { Outcome::Fired };
        match is_same {
            Some(true) => return Outcome::Pending,
            None => return gone(closed),
            Some(false) => {}
        }
        // Cloned and dropped without the lock: both may run user code.
        let new = waker.clone();
        let mut state = self.state.lock();
        let (replaced, closed) = (state.wheel.replace_waker(key, new), state.closed);
        drop(state);
        if replaced.is_ok() { Outcome::Pending } else { gone(closed) }
    }

    /// Takes out the wakers of what is due, up to so many; true if there may be more.
    pub(crate) fn take_due(&self, now: u64, most: usize, fired: &mut Vec<Waker>) -> bool {
        let mut state = self.state.lock();
        let more = state.wheel.advance_some(now, most, fired);
        let next = state.wheel.next_deadline().unwrap_or(NEVER);
        self.next.store(next, Ordering::Relaxed);
        more
    }

    /// The exact time of the next timer.
    pub(crate) fn settle(&self) -> u64 {
        let state = self.state.lock();
        let next = state.wheel.earliest().unwrap_or(NEVER);
        self.next.store(next, Ordering::Relaxed);
        next
    }

    /// Fires nothing any more, and lets nothing in; gives the wakers of all that was armed.
    pub(crate) fn close(&self) -> Vec<Waker> {
        let mut state = self.state.lock();
        state.closed = true;
        self.next.store(NEVER, Ordering::Relaxed);
        state.wheel.drain()
    }

    /// How many timers are armed.
    pub(crate) fn len(&self) -> usize {
        self.state.lock().wheel.len()
    }

    /// Under the lock: true if somebody has to be told.
    #[inline]
    fn publish(&self, deadline: u64) -> bool {
        let earliest = deadline < self.next();
        if earliest {
            self.next.store(deadline, Ordering::Relaxed);
        }
        earliest
    }

    fn rely(&self, deadline: u64) {
        self.vigil.rely(deadline, self.leniency);
    }
}

impl std::fmt::Debug for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shard").field("next", &self.next()).finish_non_exhaustive()
    }
}
