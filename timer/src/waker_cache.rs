//! A cache for the waker of the timer that was cancelled last.
//!
//! A task that waits with a time-out is woken, cancels the timer, runs, and waits with a time-out again. Its waker
//! would be dropped and cloned each time, which are two atomic read-modify-writes of the task. So the shard keeps the
//! waker, in case the next timer is armed for the same task. It keeps one waker, and only of a task of this process's
//! runtimes: the thread that cancels the next timer drops it, and a waker of other code might panic there. Until then
//! the waker keeps the memory of a task that may have ended.

use std::ptr;
use std::task::{RawWakerVTable, Waker};

use windlass_sync::primitives::plain::{AtomicPtr, Ordering as Plain};

/// The part of a shard's cached waker that is known without the lock. The waker itself is behind the lock.
#[derive(Debug)]
pub(crate) struct WakerCache {
    /// The vtable of wakers that may be cached.
    vtable: Option<&'static RawWakerVTable>,
    /// The data pointer of the cached waker. A hint for threads that don't hold the lock.
    hint: AtomicPtr<()>,
}

impl WakerCache {
    pub(crate) fn new(vtable: Option<&'static RawWakerVTable>) -> Self {
        Self { vtable, hint: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns true for the waker of a task of this process's runtimes, which neither blocks nor panics.
    #[inline]
    pub(crate) fn is_own(&self, waker: &Waker) -> bool {
        self.vtable.is_some_and(|vtable| ptr::eq(vtable, waker.vtable()))
    }

    /// Returns true if a waker of the same task is probably cached.
    #[inline]
    pub(crate) fn may_contain(&self, waker: &Waker) -> bool {
        ptr::eq(self.hint.load(Plain::Relaxed), waker.data())
    }

    /// Takes the cached waker if it wakes the same task as `waker`. Called under the lock.
    #[inline]
    pub(crate) fn take(&self, cached: &mut Option<Waker>, waker: &Waker) -> Option<Waker> {
        self.hint.store(ptr::null_mut(), Plain::Relaxed);
        cached.take_if(|cached| cached.will_wake(waker))
    }

    /// Caches a waker, if it may be cached. Returns the waker that the caller has to drop after the lock is released.
    /// Called under the lock.
    #[inline]
    pub(crate) fn put(&self, cached: &mut Option<Waker>, waker: Waker) -> Option<Waker> {
        if !self.is_own(&waker) {
            return Some(waker);
        }
        self.hint.store(waker.data().cast_mut(), Plain::Relaxed);
        cached.replace(waker)
    }
}
