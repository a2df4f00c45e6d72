//! The LIFO slot: the task that a worker has just woken, which it runs next.

use std::ptr::{self, NonNull};

use crate::primitives::{AtomicPtr, Ordering};
use crate::task::{Header, Runnable};

/// Filled by its owner only; emptied by the owner, or by a thief that found nothing else.
pub(crate) struct LifoSlot(AtomicPtr<Header>);

impl LifoSlot {
    pub(crate) fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Puts a task in, by the owner, and returns the one that was there.
    pub(crate) fn put(&self, runnable: Runnable) -> Option<Runnable> {
        let new = runnable.into_header().as_ptr();
        // Nobody else ever fills the slot: what the owner sees empty stays empty, and a plain
        // store will do. Release pairs with the Acquire in `take`.
        if self.is_empty() {
            self.0.store(new, Ordering::Release);
            return None;
        }
        // Release pairs with the Acquire in `take`, Acquire with the Release of our own `put`.
        runnable_at(self.0.swap(new, Ordering::AcqRel))
    }

    /// Takes the task out, by the owner or a thief.
    pub(crate) fn take(&self) -> Option<Runnable> {
        if self.is_empty() {
            return None;
        }
        // Acquire pairs with the Release in `put`: the task's header is seen as its waker left it.
        runnable_at(self.0.swap(ptr::null_mut(), Ordering::Acquire))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed).is_null()
    }
}

fn runnable_at(header: *mut Header) -> Option<Runnable> {
    // SAFETY: only `put` writes pointers, each from a `Runnable` that it gave up, and a swap takes
    // a pointer out once.
    NonNull::new(header).map(|header| unsafe { Runnable::new(header) })
}
