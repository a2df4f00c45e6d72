//! A wheel behind a lock, with its next deadline beside it. Each worker has a shard, and outside threads share a few.
//!
//! Firing, cancelling, resetting and polling a timer are ordered by the lock. A timer has fired if the wheel has no
//! waker for its key and the shard is not closed. The thread that fires a timer takes the waker out under the lock, and
//! wakes it after the lock is released. So if a poll finds the timer armed, its waker is in the wheel, and the thread
//! that fires later wakes it. If a poll finds that the timer has fired, it needs no waker.
//!
//! No critical section does more than a bounded amount of work; see [`Lock`]. The [`FiringClaim`] decides which thread
//! fires.
//!
//! The methods for holders that may leave take the state behind the lock, because the shard may be gone as soon as the
//! lock is released. [`ArmedTimer`](crate::holders::ArmedTimer) locks the shard for them.

// `Ended` is public in models.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use std::task::Waker;
use std::time::Instant;

use windlass_sync::primitives::{Arc, AtomicU64, Ordering};

use crate::batch::{Batch, FiringPass};
use crate::entries::Garbage;
use crate::firing_claim::FiringClaim;
#[cfg(loom)]
use crate::lock::Blocking as Lock;
#[cfg(not(loom))]
use crate::lock::Lock;
use crate::nanos::{in_nanos, nanos};
use crate::policy::{BATCH_TIMERS, RECHECK};
use crate::timekeeper::{NEVER, Timekeeper};
use crate::waker_cache::WakerCache;
use crate::wheel::{Key, Wheel};

/// The timers of one worker.
// Two cache lines, because the prefetcher fetches them in pairs, and workers must not share lines that they write.
#[repr(align(128))]
pub struct Shard {
    pub(crate) state: Lock<State>,
    /// The wheel's next deadline, or an earlier time. Written under the lock.
    next: AtomicU64,
    cache: WakerCache,
    timekeeper: Arc<Timekeeper>,
}

pub(crate) struct State {
    wheel: Wheel,
    claim: FiringClaim,
    /// See [`WakerCache`].
    cached_waker: Option<Waker>,
    /// How far the runtime's time was ahead of the OS's when the runtime ended, in nanoseconds. `None` before that.
    closed: Option<u64>,
    /// The number of holders: the runtime, and every timer that has a key, whether it has fired or not.
    holders: usize,
}

impl State {
    /// Removes a holder. Returns true if it was the last one, and has to free the shard.
    #[must_use]
    #[inline]
    pub(crate) fn leave(&mut self) -> bool {
        self.holders -= 1;
        self.holders == 0
    }

    /// Removes the holder of a timer that is not armed any more.
    fn end(&mut self, key: &Key) -> Left {
        self.wheel.remove(Key(key.0));
        Left {
            why: self.closed.map_or(Ended::Fired, |ahead| Ended::Closed { ahead }),
            is_last: self.leave(),
            _garbage: self.wheel.take_garbage(),
        }
    }
}

/// The result of a call by a timer that is not armed any more, and has left the shard.
#[must_use]
pub(crate) struct Left {
    pub(crate) why: Ended,
    /// The caller has to free the shard.
    pub(crate) is_last: bool,
    /// Dropped after the lock is released.
    _garbage: Option<Garbage>,
}

/// The result of cancelling a timer, which has left the shard.
#[must_use]
pub(crate) struct Cancelled {
    pub(crate) was_armed: bool,
    /// The caller has to free the shard.
    pub(crate) is_last: bool,
    /// Dropped after the lock is released.
    _waker: Option<Waker>,
    _garbage: Option<Garbage>,
}

pub(crate) type StateLock = Lock<State>;

/// The result of [`Shard::take_due`].
enum Taken {
    /// There are wakers to wake, or none yet and more timers to look at.
    More,
    /// Nothing is left to fire here, or another thread fires it. If an earlier deadline was published, the timekeeper
    /// has yet to be notified.
    Done { published: Option<u64> },
}

/// The result of one attempt to insert a timer.
enum Inserted {
    /// The timer's key, and whether its deadline is the shard's earliest.
    Armed(Key, bool),
    /// The cached waker was not the right one.
    NoWaker,
    Closed,
}

/// The reason why a timer is not armed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It has fired.
    Fired,
    /// The runtime is gone, and will not fire it.
    Closed {
        /// How far the runtime's time was ahead of the OS's, in nanoseconds. Zero if its time was not virtual.
        ahead: u64,
    },
}

impl Shard {
    /// Creates an empty shard with one holder.
    pub(crate) fn new(timekeeper: Arc<Timekeeper>) -> Self {
        Self {
            state: Lock::new(State {
                wheel: Wheel::new(),
                claim: FiringClaim::default(),
                cached_waker: None,
                closed: None,
                holders: 1,
            }),
            next: AtomicU64::new(NEVER),
            cache: WakerCache::new(timekeeper.driver.own_wakers()),
            timekeeper,
        }
    }

    /// Returns the runtime's time.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.timekeeper.driver.now()
    }

    /// Returns the next deadline, or an earlier time.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Arms a timer, which becomes a holder of the shard. Returns `None` if the shard is closed.
    #[inline]
    pub(crate) fn insert(&self, deadline: u64, waker: &Waker) -> Option<Key> {
        let mut clone = (!self.cache.may_contain(waker)).then(|| waker.clone());
        loop {
            let inserted = self.state.with(|state| {
                if state.closed.is_some() {
                    return Inserted::Closed;
                }
                let cached = || self.cache.take(&mut state.cached_waker, waker);
                let Some(waker) = clone.take().or_else(cached) else {
                    return Inserted::NoWaker;
                };
                state.holders += 1;
                let key = state.wheel.insert(deadline, waker);
                Inserted::Armed(key, self.publish(deadline))
            });
            match inserted {
                Inserted::Closed => return None,
                Inserted::NoWaker => clone = Some(waker.clone()),
                Inserted::Armed(key, is_earliest) => {
                    if is_earliest {
                        self.notify_timekeeper(deadline);
                    }
                    return Some(key);
                }
            }
        }
    }

    /// Cancels a timer, which leaves the shard. The caller drops the result, with the waker of this timer or an older
    /// one, after the lock is released.
    #[inline]
    pub(crate) fn cancel(&self, state: &mut State, key: Key) -> Cancelled {
        let waker = state.wheel.remove(key);
        let was_armed = waker.is_some();
        let waker = match waker {
            Some(waker) if state.closed.is_none() => self.cache.put(&mut state.cached_waker, waker),
            waker => waker,
        };
        let (is_last, garbage) = (state.leave(), state.wheel.take_garbage());
        Cancelled { was_armed, is_last, _waker: waker, _garbage: garbage }
    }

    /// Moves a timer that has not fired to another time. It keeps its waker. Returns true if the caller has to
    /// [notify the timekeeper](Self::notify_timekeeper).
    ///
    /// # Errors
    ///
    /// Returns an error if the timer is not armed any more. It has then left the shard.
    pub(crate) fn reset(&self, state: &mut State, key: &Key, deadline: u64) -> Result<bool, Left> {
        match state.wheel.reset(key, deadline) {
            Some(()) => Ok(self.publish(deadline)),
            None => Err(state.end(key)),
        }
    }

    /// Returns true if a timer that has not fired wakes the same task as `waker`.
    ///
    /// # Errors
    ///
    /// Returns an error if the timer is not armed any more. It has then left the shard.
    pub(crate) fn check_waker(
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

    /// Makes a timer that has not fired wake `new`. Also returns a waker, which the caller drops after the lock is
    /// released.
    ///
    /// # Errors
    ///
    /// Returns an error if the timer is not armed any more. It has then left the shard.
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

    /// Fires the timers that are due, unless another thread does, until the pass is over. `wakers` is empty; `wake`
    /// wakes and removes all that are in it.
    pub(crate) fn fire(
        &self,
        pass: &mut FiringPass,
        wakers: &mut Vec<Waker>,
        wake: &mut impl FnMut(&mut Vec<Waker>),
    ) {
        let mut claim = None;
        loop {
            match self.state.with(|state| self.take_due(state, pass, &mut claim, wakers)) {
                Taken::More if wakers.is_empty() => pass.empty_batches -= 1,
                Taken::More => {
                    pass.timers -= wakers.len();
                    wake(wakers);
                    debug_assert!(wakers.is_empty());
                }
                Taken::Done { published } => {
                    if let Some(next) = published {
                        // This thread is awake and looks again, so a deadline in the past counts as now.
                        self.notify_timekeeper(next.max(pass.now));
                    }
                    return;
                }
            }
        }
    }

    /// Takes out the wakers of a batch of due timers. Claims the shard with the first batch, and releases the claim
    /// after the last one.
    fn take_due(
        &self,
        state: &mut State,
        pass: &mut FiringPass,
        claim: &mut Option<u64>,
        wakers: &mut Vec<Waker>,
    ) -> Taken {
        let now = pass.now;
        match claim {
            Some(number) if state.claim.is_current(*number) => {
                state.claim.renew(self.timekeeper.driver.real_now());
            }
            // Another thread has taken over.
            Some(_) => return Taken::Done { published: None },
            None => match state.claim.acquire(self.timekeeper.driver.real_now()) {
                Some(number) => *claim = Some(number),
                None => {
                    self.recheck_later(now);
                    return Taken::Done { published: None };
                }
            },
        }
        // A waker that may block is the last one of its batch.
        let ends =
            |waker: &Waker| !self.cache.is_own(waker) && self.timekeeper.driver.may_block(waker);
        let (left, own_only) = (pass.batch(), pass.own_only);
        let mut taken = Batch { left, ends, own_only, refused: false, fired: wakers };
        let more = left > 0 && state.wheel.take(now, &mut taken) && !taken.refused;
        pass.refused |= taken.refused;
        if wakers.is_empty() && !more {
            state.claim.release();
            let next = state.wheel.next_deadline().unwrap_or(NEVER);
            let before = self.next.load(Ordering::Relaxed);
            self.next.store(next, Ordering::Relaxed);
            return Taken::Done { published: (next < before).then_some(next) };
        }
        self.recheck_later(now);
        Taken::More
    }

    /// Publishes a time to look again at a shard that is claimed. Called under the lock. It only ever postpones the
    /// published time: the timekeeper may have promised to look then, and a thread that arms a later timer relies on
    /// that.
    fn recheck_later(&self, now: u64) {
        let again = self.next().max(now.saturating_add(in_nanos(RECHECK)));
        self.next.store(again, Ordering::Relaxed);
    }

    /// Returns true if a timer is due, or some thread is waking one.
    pub(crate) fn is_firing(&self, now: u64) -> bool {
        let is_past = |time: Option<u64>| time.is_some_and(|time| time <= now);
        self.state.with(|state| {
            // `next_deadline` may be earlier than any timer. If `publish_exact_next` has published the exact time, no
            // thread looks that early.
            state.claim.is_claimed()
                || is_past(state.wheel.next_deadline()) && is_past(state.wheel.earliest())
        })
    }

    /// Returns true if some thread has claimed the shard.
    pub(crate) fn is_waking(&self) -> bool {
        self.state.with(|state| state.claim.is_claimed())
    }

    /// Publishes and returns the exact time of the next timer.
    pub(crate) fn publish_exact_next(&self) -> u64 {
        self.state.with(|state| {
            let next = state.wheel.earliest().unwrap_or(NEVER);
            self.next.store(next, Ordering::Relaxed);
            next
        })
    }

    /// Closes the shard, so that it fires no timer and accepts none. Returns the wakers of all armed timers.
    pub(crate) fn close(&self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        // In this order, so that the result is zero if both read the same clock.
        let ahead = self.timekeeper.driver.now().saturating_sub(nanos(Instant::now()));
        loop {
            wakers.reserve(self.len().min(BATCH_TIMERS));
            let (more, _cached) = self.state.with(|state| {
                state.closed = Some(ahead);
                self.next.store(NEVER, Ordering::Relaxed);
                let more = state.wheel.advance_some(u64::MAX, BATCH_TIMERS, &mut wakers);
                (more, state.cached_waker.take())
            });
            if !more {
                return wakers;
            }
        }
    }

    /// Returns the number of armed timers.
    pub(crate) fn len(&self) -> usize {
        self.state.with(|state| state.wheel.len())
    }

    /// Publishes a deadline and returns true, if it is the shard's earliest. Called under the lock.
    #[inline]
    fn publish(&self, deadline: u64) -> bool {
        let is_earliest = deadline < self.next();
        if is_earliest {
            self.next.store(deadline, Ordering::Relaxed);
        }
        is_earliest
    }

    /// Wakes the timekeeper if it would look too late for a deadline that was published.
    pub(crate) fn notify_timekeeper(&self, deadline: u64) {
        self.timekeeper.notify(deadline);
    }
}

impl std::fmt::Debug for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shard").field("next", &self.next()).finish_non_exhaustive()
    }
}
