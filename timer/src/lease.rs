//! Who holds a shard: its runtime, and every timer that was armed there.
//!
//! A timer may outlive its runtime, so it keeps its shard alive. It is armed under the shard's lock, and
//! gives the shard up under that lock, be it when it is cancelled or when it learns that it has fired. So the
//! holders are counted there too, and counting costs no atomic operation. Who takes the count to zero
//! frees the shard: nobody else has a pointer to it then, and those who have left touch nothing of it after
//! the store that unlocks, and have no reference to it either: [`locked`].

use std::fmt;
use std::mem;
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::Waker;

use windlass_sync::primitives::Arc;

use crate::shard::{Ended, Left, Shard, State, StateLock};
use crate::timekeeper::Timekeeper;
use crate::wheel::Key;

/// A runtime's hold on one of its shards.
pub struct Home(NonNull<Shard>);

// SAFETY: a shared reference to a `Shard`, which is `Sync`, and the right to drop it, which any thread may.
unsafe impl Send for Home {}
// SAFETY: as above.
unsafe impl Sync for Home {}

impl Home {
    /// A shard with one holder.
    pub(crate) fn new(timekeeper: Arc<Timekeeper>) -> Self {
        Self(NonNull::from(Box::leak(Box::new(Shard::new(timekeeper)))))
    }

    /// Arms a timer; `None` if the runtime is gone.
    #[inline]
    pub(crate) fn arm(&self, deadline: u64, waker: &Waker) -> Option<Lease> {
        let key = self.enter(deadline, waker)?;
        Some(Lease { shard: self.0, key, moved: false })
    }
}

impl Deref for Home {
    type Target = Shard;

    #[inline]
    fn deref(&self) -> &Shard {
        // SAFETY: we are one of its holders.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // SAFETY: we are one of its holders.
        if unsafe { locked(self.0, |_, state| state.leave()) } {
            // SAFETY: we were the last holder.
            unsafe { free(self.0) }
        }
    }
}

impl fmt::Debug for Home {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// An armed timer's hold on its shard. Dropping it cancels the timer.
pub struct Lease {
    shard: NonNull<Shard>,
    key: Key,
    /// See [`take_moved`](Self::take_moved).
    moved: bool,
}

// SAFETY: as for `Home`. The waker is in the shard, and wakers may be dropped by any thread.
unsafe impl Send for Lease {}
// SAFETY: as above; a shared lease can do nothing.
unsafe impl Sync for Lease {}

impl Lease {
    /// With the shard, which we may leave.
    #[inline]
    fn locked<R>(&self, f: impl FnOnce(&Shard, &mut State) -> R) -> R {
        // SAFETY: we are one of its holders.
        unsafe { locked(self.shard, f) }
    }

    /// Has the timer, if it has not fired, wake `waker`.
    ///
    /// # Errors
    ///
    /// If it has fired, or its runtime is gone.
    pub fn poll(self, waker: &Waker) -> Result<Self, Ended> {
        match self.locked(|shard, state| shard.has_waker(state, &self.key, waker)) {
            Ok(true) => return Ok(self),
            Ok(false) => {}
            Err(left) => return self.or_left(Err(left)),
        }
        // Cloned and dropped without the lock: both may run user code.
        let new = waker.clone();
        let (polled, old) = self.locked(|shard, state| shard.set_waker(state, &self.key, new));
        let polled = self.or_left(polled);
        // After that: the drop may panic, and what has left must not leave once more. And in a variable, for
        // what a function is about to return is lost if one of its variables panics in its drop.
        drop(old);
        polled
    }

    /// True if the timer was moved since this was last asked.
    pub(crate) fn take_moved(&mut self) -> bool {
        mem::take(&mut self.moved)
    }

    /// The time of the runtime that the timer belongs to.
    pub(crate) fn now(&self) -> u64 {
        // SAFETY: we are one of its holders.
        unsafe { self.shard.as_ref() }.now()
    }

    /// Moves the timer, if it has not fired, to another time; it keeps its waker.
    ///
    /// # Errors
    ///
    /// If it has fired, or its runtime is gone.
    pub fn reset(mut self, deadline: u64) -> Result<Self, Ended> {
        self.moved = true;
        let moved = self.locked(|shard, state| shard.reset(state, &self.key, deadline));
        if let Ok(true) = moved {
            // SAFETY: we are still one of its holders.
            unsafe { self.shard.as_ref() }.rely(deadline);
        }
        self.or_left(moved.map(|_| ()))
    }

    /// Cancels the timer; true if it had not fired.
    #[inline]
    pub fn cancel(self) -> bool {
        // What is in here is dropped last: after the lock, and after we have left.
        let cancelled = self.locked(|shard, state| shard.cancel(state, Key(self.key.0)));
        self.left(cancelled.is_last);
        cancelled.was_armed
    }

    fn or_left(self, result: Result<(), Left>) -> Result<Self, Ended> {
        match result {
            Ok(()) => Ok(self),
            Err(left) => {
                self.left(left.is_last);
                Err(left.why)
            }
        }
    }

    /// The shard was left, under its lock: it may be gone.
    #[inline]
    fn left(self, is_last: bool) {
        let shard = self.shard;
        mem::forget(self);
        if is_last {
            // SAFETY: we were the last holder.
            unsafe { free(shard) }
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // A copy, whose drop does not come here.
        let copy = Self { shard: self.shard, key: Key(self.key.0), moved: false };
        copy.cancel();
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Gives `f` a shard and what is behind its lock. A holder may leave there: after it the shard is not touched any
/// more.
///
/// # Safety
///
/// The caller is one of its holders.
#[inline]
unsafe fn locked<R>(shard: NonNull<Shard>, f: impl FnOnce(&Shard, &mut State) -> R) -> R {
    // SAFETY: until the lock is released the caller keeps the shard, and with it the lock.
    unsafe {
        let lock = &raw const (*shard.as_ptr()).state;
        StateLock::with_last(lock, |state| f(shard.as_ref(), state))
    }
}

/// # Safety
///
/// `shard` was made by `Home::new`, and its last holder has left.
#[cold]
unsafe fn free(shard: NonNull<Shard>) {
    // SAFETY: leaked from a box in `Home::new`; nobody else knows it any more, and what the others did
    // with it came before, by the lock.
    drop(unsafe { Box::from_raw(shard.as_ptr()) });
}
