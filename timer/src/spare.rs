//! The waker of the timer that was cancelled last, kept for the next.
//!
//! A task that has to wait with a time-out is woken, cancels it, gets on, and waits with a time-out again: the
//! same waker is given up and asked for once more, which are two atomic read-modify-writes of the task. So
//! the shard keeps it, in case the next to be armed is for the same task. One waker for each shard, and only
//! those of the runtime's own tasks: it is dropped by whoever cancels next, who must not suffer from the panic
//! of somebody else's waker. Until then it keeps the memory of a task that may have ended.

use std::ptr;
use std::task::{RawWakerVTable, Waker};

use windlass_sync::primitives::plain::{AtomicPtr, Ordering as Plain};

/// What is known of the waker that a shard keeps, which itself is behind the lock.
#[derive(Debug)]
pub(crate) struct Spare {
    /// Of wakers that may be kept.
    vtable: Option<&'static RawWakerVTable>,
    /// Whose waker is kept: a guess, for those who have not locked yet.
    hint: AtomicPtr<()>,
}

impl Spare {
    pub(crate) fn new(vtable: Option<&'static RawWakerVTable>) -> Self {
        Self { vtable, hint: AtomicPtr::new(ptr::null_mut()) }
    }

    /// True for the waker of a task of this process's runtimes, which neither blocks nor panics.
    #[inline]
    pub(crate) fn is_own(&self, waker: &Waker) -> bool {
        self.vtable.is_some_and(|vtable| ptr::eq(vtable, waker.vtable()))
    }

    /// True if such a waker is probably kept.
    #[inline]
    pub(crate) fn may_be(&self, waker: &Waker) -> bool {
        ptr::eq(self.hint.load(Plain::Relaxed), waker.data())
    }

    /// Under the lock: the waker that is kept, if it is such a one.
    #[inline]
    pub(crate) fn take(&self, kept: &mut Option<Waker>, waker: &Waker) -> Option<Waker> {
        self.hint.store(ptr::null_mut(), Plain::Relaxed);
        kept.take_if(|kept| kept.will_wake(waker))
    }

    /// Under the lock: keeps a waker, if it may; gives one to be dropped after it.
    #[inline]
    pub(crate) fn keep(&self, kept: &mut Option<Waker>, waker: Waker) -> Option<Waker> {
        if !self.is_own(&waker) {
            return Some(waker);
        }
        self.hint.store(waker.data().cast_mut(), Plain::Relaxed);
        kept.replace(waker)
    }
}
