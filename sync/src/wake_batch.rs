//! Wakers that were taken out under a lock, to be woken after it is released.
//!
//! Waking runs foreign code, so it must not happen under one of our locks. A primitive that releases many waiters at
//! once moves their wakers here first. All waiters are released in one critical section, because that lets
//! [`Latch`](crate::Latch) promise not to access itself again. So the batch grows as needed. Up to 32 wakers need no
//! allocation.

use std::panic::{self, AssertUnwindSafe};
use std::task::Waker;

use crate::policy::INLINE_WAKERS;
use crate::quiet::drop_quietly;

pub(crate) struct WakeBatch {
    inline: [Option<Waker>; INLINE_WAKERS],
    len: usize,
    spilled: Vec<Waker>,
}

impl WakeBatch {
    pub(crate) fn new() -> Self {
        Self { inline: [const { None }; INLINE_WAKERS], len: 0, spilled: Vec::new() }
    }

    pub(crate) fn push(&mut self, waker: Waker) {
        match self.inline.get_mut(self.len) {
            Some(slot) => *slot = Some(waker),
            None => self.spilled.push(waker),
        }
        self.len += 1;
    }

    /// Wakes all wakers, in the order of `push`. If a waker panics, the others are still woken, and the first panic is
    /// resumed after that.
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
