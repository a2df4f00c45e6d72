//! A wheel behind a lock, and its next deadline beside it. Each worker has one, and foreign threads
//! share a few.
//!
//! Fire, cancel, reset and poll of one timer are ordered by the lock. A timer has fired when its key
//! means nothing any more and the shard is not closed; its waker was taken out under the lock by whoever
//! fired it, and is woken after that. So a poll that finds the timer armed has its waker in the wheel, and
//! who fires later wakes it; one that finds it fired needs none.
//!
//! No critical section does more than a bounded piece of work: see [`Lock`]. Who fires is up to the [`Turn`].
//!
//! Some methods want the state that is behind the lock: those of holders that may leave, after which the shard may
//! be gone as soon as the lock is released. [`Lease`](crate::Lease) locks for them.

use std::task::Waker;
use std::time::Instant;

use windlass_sync::primitives::{Arc, AtomicU64, Ordering};

#[cfg(loom)]
use crate::lock::Blocking as Lock;
#[cfg(not(loom))]
use crate::lock::Lock;
use crate::nanos::nanos;
use crate::slab::Garbage;
use crate::spare::Spare;
use crate::timekeeper::{NEVER, Timekeeper};
use crate::turn::{AGAIN, Turn};
use crate::wheel::{Key, Portion, Wheel};

/// Timers that are taken out in one go.
const PORTION: usize = if cfg!(loom) { 1 } else { 128 };

/// The timers of one worker.
// Two lines, for the prefetcher fetches them in pairs: workers must not share what they write.
#[repr(align(128))]
pub struct Shard {
    pub(crate) state: Lock<State>,
    /// The wheel's next deadline, or an earlier time; written under the lock.
    next: AtomicU64,
    spare: Spare,
    timekeeper: Arc<Timekeeper>,
}

pub(crate) struct State {
    wheel: Wheel,
    turn: Turn,
    /// See [`Spare`].
    spare: Option<Waker>,
    /// How far the runtime's time was ahead of the OS's when it ended, in nanoseconds; `None` before that.
    closed: Option<u64>,
    /// The runtime, and all who hold a key, be it of a timer that has fired.
    holders: usize,
}

impl State {
    /// A holder leaves; true if it was the last, and has to free the shard.
    #[must_use]
    #[inline]
    pub(crate) fn leave(&mut self) -> bool {
        self.holders -= 1;
        self.holders == 0
    }

    /// The holder of a timer that is not armed any more leaves.
    fn end(&mut self, key: &Key) -> Left {
        self.wheel.remove(Key(key.0));
        Left {
            why: self.closed.map_or(Ended::Fired, |ahead| Ended::Closed { ahead }),
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

pub(crate) type StateLock = Lock<State>;

/// What a look at what is due has brought.
enum Taken {
    /// Something to wake; or nothing yet, but to look once more.
    Some,
    /// Nothing any more, or the turn is not ours. A deadline that was published has yet to be relied on.
    Last { published: Option<u64> },
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
    Closed {
        /// How far its time was ahead of the OS's, in nanoseconds. Not at all, if it was the OS's.
        ahead: u64,
    },
}

impl Shard {
    /// With one holder.
    pub(crate) fn new(timekeeper: Arc<Timekeeper>) -> Self {
        Self {
            state: Lock::new(State {
                wheel: Wheel::new(),
                turn: Turn::default(),
                spare: None,
                closed: None,
                holders: 1,
            }),
            next: AtomicU64::new(NEVER),
            spare: Spare::new(timekeeper.own_wakers()),
            timekeeper,
        }
    }

    /// The runtime's time.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.timekeeper.now()
    }

    /// The next deadline, or an earlier time.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Arms a timer, whose key is one more holder; `None` if the shard is closed.
    #[inline]
    pub(crate) fn enter(&self, deadline: u64, waker: &Waker) -> Option<Key> {
        let mut clone = (!self.spare.may_be(waker)).then(|| waker.clone());
        loop {
            let entered = self.state.with(|state| {
                if state.closed.is_some() {
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

    /// Cancels a timer, whose holder leaves. The waker, that of this timer or an older one, is dropped by the
    /// caller, outside of the lock.
    #[inline]
    pub(crate) fn cancel(&self, state: &mut State, key: Key) -> Cancelled {
        let waker = state.wheel.remove(key);
        let was_armed = waker.is_some();
        let waker = match waker {
            Some(waker) if state.closed.is_none() => self.spare.keep(&mut state.spare, waker),
            waker => waker,
        };
        let (is_last, garbage) = (state.leave(), state.wheel.take_garbage());
        Cancelled { was_armed, is_last, _waker: waker, _garbage: garbage }
    }

    /// Moves a timer that has not fired to another time; it keeps its waker. True if somebody has to be told:
    /// see [`rely`](Self::rely).
    ///
    /// # Errors
    ///
    /// If it is not armed any more; its holder has left then.
    pub(crate) fn reset(&self, state: &mut State, key: &Key, deadline: u64) -> Result<bool, Left> {
        match state.wheel.reset(key, deadline) {
            Some(()) => Ok(self.publish(deadline)),
            None => Err(state.end(key)),
        }
    }

    /// True if a timer that has not fired has that waker.
    ///
    /// # Errors
    ///
    /// If it is not armed any more; its holder has left then.
    pub(crate) fn has_waker(
        &self,
        state: &mut State,
        key: &Key,
        waker: &Waker,
    ) -> Result<bool, Left> {
        match state.wheel.waker(key) {
            Some(old) => Ok(old.will_wake(waker)),
            None => Err(state.end(key)),
        }
    }

    /// Has a timer that has not fired wake `new`. Gives a waker to be dropped outside of the lock.
    ///
    /// # Errors
    ///
    /// As above.
    pub(crate) fn set_waker(
        &self,
        state: &mut State,
        key: &Key,
        new: Waker,
    ) -> (Result<(), Left>, Waker) {
        match state.wheel.replace_waker(key, new) {
            Ok(old) => (Ok(()), old),
            Err(new) => (Err(state.end(key)), new),
        }
    }

    /// Fires what is due, up to so many timers and so many portions in vain, unless another thread is at it; gives
    /// how many. `wakers` is empty, and is so again after `wake`, which wakes them.
    pub(crate) fn fire(
        &self,
        now: u64,
        most: usize,
        in_vain: &mut usize,
        wakers: &mut Vec<Waker>,
        wake: &mut impl FnMut(&mut Vec<Waker>),
    ) -> usize {
        let (mut fired, mut turn) = (0, None);
        loop {
            let portion = if *in_vain == 0 { 0 } else { PORTION.min(most - fired) };
            match self.state.with(|state| self.take_due(state, now, portion, &mut turn, wakers)) {
                Taken::Some if wakers.is_empty() => *in_vain -= 1,
                Taken::Some => {
                    fired += wakers.len();
                    wake(wakers);
                    debug_assert!(wakers.is_empty());
                }
                Taken::Last { published } => {
                    if let Some(next) = published {
                        // Who has fired is awake, and looks again: what is past is late from now on.
                        self.rely(next.max(now));
                    }
                    return fired;
                }
            }
        }
    }

    /// Takes out the wakers of what is due, a portion of so many, in a turn, which is taken with the first of them
    /// and given back after the last.
    fn take_due(
        &self,
        state: &mut State,
        now: u64,
        portion: usize,
        turn: &mut Option<u64>,
        wakers: &mut Vec<Waker>,
    ) -> Taken {
        match turn {
            Some(turn) if state.turn.is(*turn) => state.turn.extend(self.timekeeper.lasting()),
            // It was taken over.
            Some(_) => return Taken::Last { published: None },
            None => match state.turn.take(self.timekeeper.lasting()) {
                Some(number) => *turn = Some(number),
                None => {
                    self.look_again(now);
                    return Taken::Last { published: None };
                }
            },
        }
        // A waker that may block is the last in our hands.
        let ends = |waker: &Waker| !self.spare.is_own(waker);
        let mut taken = Portion { left: portion, ends, fired: wakers };
        let more = portion == 0 || state.wheel.take(now, &mut taken);
        if wakers.is_empty() && (portion == 0 || !more) {
            state.turn.give_back();
            let next = state.wheel.next_deadline().unwrap_or(NEVER);
            let before = self.next.load(Ordering::Relaxed);
            self.next.store(next, Ordering::Relaxed);
            return Taken::Last { published: (next < before).then_some(next) };
        }
        self.look_again(now);
        Taken::Some
    }

    /// Under the lock: the turn is taken. Only puts off what was published: a keeper may have promised to look
    /// then, and who arms a timer later than that relies on it.
    fn look_again(&self, now: u64) {
        let again = self.next().max(now.saturating_add(AGAIN));
        self.next.store(again, Ordering::Relaxed);
    }

    /// True if something is due, or is being woken.
    pub(crate) fn is_firing(&self, now: u64) -> bool {
        let is_past = |time: Option<u64>| time.is_some_and(|time| time <= now);
        self.state.with(|state| {
            // The wheel may want to be looked at before anything is due, but where `settle` has published the
            // exact time nobody comes for that.
            state.turn.is_taken()
                || is_past(state.wheel.next_deadline()) && is_past(state.wheel.earliest())
        })
    }

    /// True if some thread has the turn.
    pub(crate) fn is_waking(&self) -> bool {
        self.state.with(|state| state.turn.is_taken())
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
        // In this order: of two looks at one clock, the first is not ahead.
        let ahead = self.timekeeper.now().saturating_sub(nanos(Instant::now()));
        loop {
            wakers.reserve(PORTION);
            let (more, _spare) = self.state.with(|state| {
                state.closed = Some(ahead);
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

    /// Has somebody look at a deadline that was published as the next, if nobody would.
    pub(crate) fn rely(&self, deadline: u64) {
        self.timekeeper.rely(deadline);
    }
}

impl std::fmt::Debug for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shard").field("next", &self.next()).finish_non_exhaustive()
    }
}
