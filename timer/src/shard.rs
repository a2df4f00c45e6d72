//! A wheel behind a lock, and its next deadline beside it. Each worker has one, and foreign threads
//! share a few.
//!
//! Fire, cancel, reset and poll of one timer are ordered by the lock. A timer has fired when its key
//! means nothing any more and the shard is not closed; its waker was taken out under the lock by whoever
//! fired it, and is woken after that. So a poll that finds the timer armed has its waker in the wheel, and
//! who fires later wakes it; one that finds it fired needs none.
//!
//! No critical section does more than a bounded piece of work: see [`Lock`].

use std::task::Waker;

use windlass_sync::primitives::{Arc, AtomicU64, Ordering};

#[cfg(not(loom))]
use crate::lock::Lock;
#[cfg(loom)]
use crate::model::Blocking as Lock;
use crate::slab::Garbage;
use crate::spare::Spare;
use crate::vigil::{NEVER, Vigil};
use crate::wheel::{Key, Wheel};

/// Timers that are taken out in one go when the shard is closed.
const PORTION: usize = 128;

/// The timers of one worker.
// Two lines, for the prefetcher fetches them in pairs: workers must not share what they write.
#[repr(align(128))]
pub struct Shard {
    state: Lock<State>,
    /// The wheel's next deadline, or an earlier time; written under the lock.
    next: AtomicU64,
    spare: Spare,
    /// By how much its deadlines may be put off while workers are awake, who look by themselves.
    leniency: u64,
    vigil: Arc<Vigil>,
}

struct State {
    wheel: Wheel,
    /// See [`Spare`].
    spare: Option<Waker>,
    closed: bool,
    /// The runtime, and all who hold a key, be it of a timer that has fired.
    holders: usize,
}

impl State {
    /// A holder leaves; true if it was the last.
    #[inline]
    fn leave(&mut self) -> bool {
        self.holders -= 1;
        self.holders == 0
    }

    /// The holder of a timer that is not armed any more leaves.
    fn end(&mut self, key: &Key) -> Left {
        self.wheel.remove(Key(key.0));
        Left {
            why: if self.closed { Ended::Closed } else { Ended::Fired },
            is_last: self.leave(),
            _garbage: self.wheel.take_garbage(),
        }
    }
}

/// The holder of a timer that is not armed any more has left.
#[must_use]
pub(crate) struct Left {
    pub(crate) why: Ended,
    /// It has to free the shard.
    pub(crate) is_last: bool,
    /// Dropped after the lock.
    _garbage: Option<Garbage>,
}

/// A timer was cancelled, or its holder has left after it fired.
#[must_use]
pub(crate) struct Cancelled {
    pub(crate) was_armed: bool,
    /// It has to free the shard.
    pub(crate) is_last: bool,
    /// Dropped after the lock.
    _waker: Option<Waker>,
    _garbage: Option<Garbage>,
}

enum Enter {
    Armed(Key, bool),
    NoWaker,
    Closed,
}

/// Why a timer is not armed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its time has come.
    Fired,
    /// The runtime is gone, and will not fire it.
    Closed,
}

impl Shard {
    /// With one holder.
    pub(crate) fn new(leniency: u64, vigil: Arc<Vigil>) -> Self {
        Self {
            state: Lock::new(State { wheel: Wheel::new(), spare: None, closed: false, holders: 1 }),
            next: AtomicU64::new(NEVER),
            spare: Spare::new(vigil.own_wakers()),
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

    /// Arms a timer, whose key is one more holder; `None` if the shard is closed.
    #[inline]
    pub(crate) fn enter(&self, deadline: u64, waker: &Waker) -> Option<Key> {
        let mut clone = (!self.spare.may_be(waker)).then(|| waker.clone());
        loop {
            let entered = self.state.with(|state| {
                if state.closed {
                    return Enter::Closed;
                }
                let spare = || self.spare.take(&mut state.spare, waker);
                let Some(waker) = clone.take().or_else(spare) else {
                    return Enter::NoWaker;
                };
                state.holders += 1;
                let key = state.wheel.insert(deadline, waker);
                Enter::Armed(key, self.publish(deadline))
            });
            match entered {
                Enter::Closed => return None,
                Enter::NoWaker => clone = Some(waker.clone()),
                Enter::Armed(key, earliest) => {
                    if earliest {
                        self.rely(deadline);
                    }
                    return Some(key);
                }
            }
        }
    }

    /// A holder without a key leaves; true if it was the last, and has to free the shard.
    #[must_use]
    pub(crate) fn leave(&self) -> bool {
        self.state.with(State::leave)
    }

    /// Cancels a timer, whose holder leaves; true if that was the last. The waker, that of this timer or
    /// an older one, is dropped by the caller, outside of the lock.
    #[inline]
    pub(crate) fn cancel(&self, key: Key) -> Cancelled {
        self.state.with(|state| {
            let waker = state.wheel.remove(key);
            let was_armed = waker.is_some();
            let waker = match waker {
                Some(waker) if !state.closed => self.spare.keep(&mut state.spare, waker),
                waker => waker,
            };
            let (is_last, garbage) = (state.leave(), state.wheel.take_garbage());
            Cancelled { was_armed, is_last, _waker: waker, _garbage: garbage }
        })
    }

    /// Moves a timer that has not fired to another time; it keeps its waker.
    ///
    /// # Errors
    ///
    /// If it is not armed any more; its holder has left then.
    pub(crate) fn reset(&self, key: &Key, deadline: u64) -> Result<(), Left> {
        let earliest = self.state.with(|state| match state.wheel.reset(key, deadline) {
            Some(()) => Ok(self.publish(deadline)),
            None => Err(state.end(key)),
        })?;
        if earliest {
            self.rely(deadline);
        }
        Ok(())
    }

    /// Has a timer that has not fired wake `waker`. Gives a waker to be dropped.
    ///
    /// # Errors
    ///
    /// If it is not armed any more; its holder has left then.
    pub(crate) fn poll(&self, key: &Key, waker: &Waker) -> (Result<(), Left>, Option<Waker>) {
        let is_same = self.state.with(|state| match state.wheel.waker(key) {
            Some(old) => Ok(old.will_wake(waker)),
            None => Err(state.end(key)),
        });
        match is_same {
            Ok(true) => return (Ok(()), None),
            Err(left) => return (Err(left), None),
            Ok(false) => {}
        }
        // Cloned and dropped without the lock: both may run user code.
        let new = waker.clone();
        self.state.with(|state| match state.wheel.replace_waker(key, new) {
            Ok(old) => (Ok(()), Some(old)),
            Err(new) => (Err(state.end(key)), Some(new)),
        })
    }

    /// Takes out the wakers of what is due, up to so many; true if there may be more.
    pub(crate) fn take_due(&self, now: u64, most: usize, fired: &mut Vec<Waker>) -> bool {
        self.state.with(|state| {
            let more = state.wheel.advance_some(now, most, fired);
            let next = state.wheel.next_deadline().unwrap_or(NEVER);
            self.next.store(next, Ordering::Relaxed);
            more
        })
    }

    /// The exact time of the next timer.
    pub(crate) fn settle(&self) -> u64 {
        self.state.with(|state| {
            let next = state.wheel.earliest().unwrap_or(NEVER);
            self.next.store(next, Ordering::Relaxed);
            next
        })
    }

    /// Fires nothing any more, and lets nothing in; gives the wakers of all that was armed.
    pub(crate) fn close(&self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        loop {
            wakers.reserve(PORTION);
            let (more, _spare) = self.state.with(|state| {
                state.closed = true;
                self.next.store(NEVER, Ordering::Relaxed);
                let more = state.wheel.advance_some(u64::MAX, PORTION, &mut wakers);
                (more, state.spare.take())
            });
            if !more {
                return wakers;
            }
        }
    }

    /// How many timers are armed.
    pub(crate) fn len(&self) -> usize {
        self.state.with(|state| state.wheel.len())
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
