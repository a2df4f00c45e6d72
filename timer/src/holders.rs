//! The holders of a shard: its runtime, and every timer that was armed there.
//!
//! A timer may outlive its runtime, so it keeps its shard alive. It is armed under the shard's lock, and it leaves the
//! shard under the same lock, either when it is cancelled or when it finds out that it has fired. So the holders are
//! counted under the lock, and counting them costs no atomic operation. The holder that takes the count to zero frees
//! the shard. No other thread has a pointer to it then: a thread that has left does not touch the shard after the store
//! that unlocks it, and has no reference to it either. See [`locked`].

// `ArmedTimer` is public in models.
#![cfg_attr(not(loom), allow(unreachable_pub))]

use std::fmt;
use std::mem;
use std::ops::Deref;
use std::ptr::NonNull;
use std::task::Waker;

use windlass_sync::primitives::Arc;

use crate::shard::{Ended, Left, Shard, State, StateLock};
use crate::timekeeper::Timekeeper;
use crate::wheel::Key;

/// A runtime's reference to one of its shards.
///
/// It keeps the shard alive, as does every timer that was armed there.
pub struct ShardRef(NonNull<Shard>);

// SAFETY: a shared reference to a `Shard`, which is `Sync`, and the right to drop it, which any thread may exercise.
unsafe impl Send for ShardRef {}
// SAFETY: as above.
unsafe impl Sync for ShardRef {}

impl ShardRef {
    /// Creates a shard with one holder.
    pub(crate) fn new(timekeeper: Arc<Timekeeper>) -> Self {
        Self(NonNull::from(Box::leak(Box::new(Shard::new(timekeeper)))))
    }

    /// Arms a timer. Returns `None` if the runtime is gone.
    #[inline]
    pub(crate) fn arm(&self, deadline: u64, waker: &Waker) -> Option<ArmedTimer> {
        let key = self.insert(deadline, waker)?;
        Some(ArmedTimer { shard: self.0, key, moved: false })
    }
}

impl Deref for ShardRef {
    type Target = Shard;

    #[inline]
    fn deref(&self) -> &Shard {
        // SAFETY: we are one of its holders.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for ShardRef {
    fn drop(&mut self) {
        // SAFETY: we are one of its holders.
        if unsafe { locked(self.0, |_, state| state.leave()) } {
            // SAFETY: we were the last holder.
            unsafe { free(self.0) }
        }
    }
}

impl fmt::Debug for ShardRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// A timer that was armed, with a reference to its shard. Dropping it cancels the timer.
pub struct ArmedTimer {
    shard: NonNull<Shard>,
    key: Key,
    /// See [`take_moved`](Self::take_moved).
    moved: bool,
}

// SAFETY: as for `ShardRef`. The waker is in the shard, and wakers may be dropped by any thread.
unsafe impl Send for ArmedTimer {}
// SAFETY: as above; a shared reference to it can do nothing.
unsafe impl Sync for ArmedTimer {}

impl ArmedTimer {
    /// Calls `f` under the lock, where the timer may leave its shard.
    #[inline]
    fn locked<R>(&self, f: impl FnOnce(&Shard, &mut State) -> R) -> R {
        // SAFETY: we are one of its holders.
        unsafe { locked(self.shard, f) }
    }

    /// Makes the timer wake `waker`, unless it has fired.
    ///
    /// # Errors
    ///
    /// Returns the reason if the timer has fired, or its runtime is gone.
    pub fn poll(self, waker: &Waker) -> Result<Self, Ended> {
        match self.locked(|shard, state| shard.check_waker(state, &self.key, waker)) {
            Ok(true) => return Ok(self),
            Ok(false) => {}
            Err(left) => return self.or_left(Err(left)),
        }
        // Cloned and dropped without the lock: both may run user code.
        let new = waker.clone();
        let (polled, old) = self.locked(|shard, state| shard.set_waker(state, &self.key, new));
        let polled = self.or_left(polled);
        // Only now, because the drop may panic, and a timer that has left must not leave twice. The result is in a
        // variable, because the value of a tail expression leaks if the drop of a local variable panics.
        drop(old);
        polled
    }

    /// Returns true if the timer was moved since the last call.
    pub(crate) fn take_moved(&mut self) -> bool {
        mem::take(&mut self.moved)
    }

    /// Returns the time of the runtime that the timer belongs to.
    pub(crate) fn now(&self) -> u64 {
        // SAFETY: we are one of its holders.
        unsafe { self.shard.as_ref() }.now()
    }

    /// Moves the timer to another time, unless it has fired. It keeps its waker.
    ///
    /// # Errors
    ///
    /// Returns the reason if the timer has fired, or its runtime is gone.
    pub fn reset(mut self, deadline: u64) -> Result<Self, Ended> {
        self.moved = true;
        let moved = self.locked(|shard, state| shard.reset(state, &self.key, deadline));
        if let Ok(true) = moved {
            // SAFETY: we are still one of its holders.
            unsafe { self.shard.as_ref() }.notify_timekeeper(deadline);
        }
        self.or_left(moved.map(|_| ()))
    }

    /// Cancels the timer. Returns true if it had not fired.
    #[inline]
    pub fn cancel(self) -> bool {
        // It contains wakers, which are dropped last: after the lock is released, and after we have left.
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

    /// Ends a timer that has left its shard under the lock. The shard may be gone.
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

impl Drop for ArmedTimer {
    fn drop(&mut self) {
        // `cancel` consumes the copy, and does not drop it.
        let copy = Self { shard: self.shard, key: Key(self.key.0), moved: false };
        copy.cancel();
    }
}

impl fmt::Debug for ArmedTimer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArmedTimer").field("key", &self.key).finish_non_exhaustive()
    }
}

/// Locks a shard and calls `f` with it and its state. The caller may leave the shard there: the shard is not touched
/// after the lock is released.
///
/// # Safety
///
/// The caller is one of the shard's holders.
#[inline]
unsafe fn locked<R>(shard: NonNull<Shard>, f: impl FnOnce(&Shard, &mut State) -> R) -> R {
    // SAFETY: the caller keeps the shard alive, and with it the lock, until the lock is released.
    unsafe {
        let lock = &raw const (*shard.as_ptr()).state;
        StateLock::with_last(lock, |state| f(shard.as_ref(), state))
    }
}

/// Frees a shard.
///
/// # Safety
///
/// `shard` was made by `ShardRef::new`, and its last holder has left.
#[cold]
unsafe fn free(shard: NonNull<Shard>) {
    // SAFETY: leaked from a box in `ShardRef::new`; nobody else has a pointer to it any more, and the
    // lock orders what the others did with it before this.
    drop(unsafe { Box::from_raw(shard.as_ptr()) });
}
