//! Wakers taken out under a lock, to be woken after it.
//!
//! Waking runs foreign code, so it must not happen under a lock of ours; a primitive that
//! releases many waiters at once moves their wakers here first. Releasing everybody in one
//! critical section is what lets [`Latch`](crate::Latch) promise not to touch itself again, so
//! the batch grows instead of asking for a second turn. Up to 32 wakers need no allocation.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::task::Waker;

/// How many wakers fit without allocating.
const INLINE: usize = 32;

pub(crate) struct WakeBatch {
    inline: [Option<Waker>; INLINE],
    len: usize,
    spilled: Vec<Waker>,
}

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self { inline: [const { None }; INLINE], len: 0, spilled: Vec::new() }
    }

    pub(crate) fn push(&mut self, waker: Waker) {
        match self.inline.get_mut(self.len) {
            Some(slot) => *slot = Some(waker),
            None => self.spilled.push(waker),
        }
        self.len += 1;
    }

    /// Wakes all, in the order of `push`. A waker that panics does not keep the others from
    /// being woken; the first panic continues when all are done.
    pub(crate) fn wake_all(self) {
        let mut panicked = None;
        for waker in self.inline.into_iter().take(self.len).flatten().chain(self.spilled) {
            if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                match panicked {
                    None => panicked = Some(payload),
                    Some(_) => drop_quietly(payload),
                }
            }
        }
        if let Some(payload) = panicked {
            panic::resume_unwind(payload);
        }
    }
}

/// Drops the payload of a panic that nobody will be told of. Its destructor may panic as well; what
/// comes of that is leaked.
fn drop_quietly(payload: Box<dyn Any + Send>) {
    if let Err(again) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
}
