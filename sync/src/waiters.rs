//! The queue of waiters: intrusive, doubly linked, first in, first out.
//!
//! A [`Waiter`] is part of the future that waits (or of a blocking thread's stack frame), so waiting allocates nothing.
//! It is linked into the [`WaiterList`] of one primitive, which is behind that primitive's mutex. The states of a
//! waiter:
//!
//! ```text
//!   IDLE --push_back--> QUEUED --pop_front--> RELEASED --\
//!     \                    \---- remove ----------------->> DONE
//!      \--------- signal found set at once -------------/
//! ```
//!
//! A waiter whose task has no budget at the first poll is PUT_OFF, and continues from there as from IDLE.
//!
//! Who may access which fields:
//!
//! | state    | state word        | links and waker                          |
//! |----------|-------------------|------------------------------------------|
//! | IDLE     | the owner         | the owner                                |
//! | PUT_OFF  | the owner         | the owner                                |
//! | QUEUED   | the lock's holder | the lock's holder (links: neighbours too)|
//! | RELEASED | the owner         | the owner                                |
//! | DONE     | the owner         | the owner                                |
//!
//! Any thread may *read* the state word at any time. Seeing RELEASED without the lock is enough for the owner to
//! continue, because the releaser's store of it is its last access to the waiter.

use std::marker::PhantomPinned;
use std::ptr;
use std::task::Waker;

use crate::primitives::{AtomicU8, Ordering, UnsafeCell};

/// Not in a list yet.
pub(crate) const IDLE: u8 = 0;
/// Not in a list yet, because the task had no budget at the first poll.
pub(crate) const PUT_OFF: u8 = 4;
/// In a list, holding a waker.
pub(crate) const QUEUED: u8 = 1;
/// Taken out of the list by a signaller. The owner uses the signal or passes it on.
pub(crate) const RELEASED: u8 = 2;
/// The wait is over. The waiter is in no list and owns no signal.
pub(crate) const DONE: u8 = 3;

/// The entry of a wait in the queue. It is pinned from its `push_back` on.
pub(crate) struct Waiter {
    state: AtomicU8,
    links: UnsafeCell<Links>,
    _pinned: PhantomPinned,
}

struct Links {
    prev: *const Waiter,
    next: *const Waiter,
    waker: Option<Waker>,
}

// SAFETY: the pointers lead to waiters of the same list and are followed only under its lock, and the waker is `Send`.
// It does not matter which thread owns the waiter.
unsafe impl Send for Waiter {}
// SAFETY: only the state word of a shared waiter can be accessed, which is atomic. Everything else requires a
// `&mut WaiterList`, which stands for the lock.
unsafe impl Sync for Waiter {}

impl Waiter {
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU8::new(IDLE),
            links: UnsafeCell::new(Links { prev: ptr::null(), next: ptr::null(), waker: None }),
            _pinned: PhantomPinned,
        }
    }

    /// Returns the state. Acquire pairs with the Release in [`WaiterList::pop_front`]: an owner that sees RELEASED sees
    /// what the releaser did before, and may reuse or free the waiter.
    #[inline]
    pub(crate) fn state(&self) -> u8 {
        self.state.load(Ordering::Acquire)
    }

    /// Notes that the task had no budget. Called by the owner, while IDLE.
    pub(crate) fn put_off(&self) {
        self.state.store(PUT_OFF, Ordering::Relaxed);
    }

    /// Ends the wait. Called by the owner, and not while QUEUED.
    #[inline]
    pub(crate) fn finish(&self) {
        self.state.store(DONE, Ordering::Relaxed);
    }
}

/// The waiters of one primitive, oldest first. `&mut` access means that its lock is held.
pub(crate) struct WaiterList {
    head: *const Waiter,
    tail: *const Waiter,
}

// SAFETY: every waiter in the list is `Send` and `Sync` and stays where it is until it has been
// taken out (`push_back`'s contract), so any thread that has the lock may use the list.
unsafe impl Send for WaiterList {}

impl WaiterList {
    pub(crate) const fn new() -> Self {
        Self { head: ptr::null(), tail: ptr::null() }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_null()
    }

    /// Queues `waiter` behind all others.
    ///
    /// # Safety
    ///
    /// `waiter` is IDLE or PUT_OFF, and pinned. It is never used with another list. It is not dropped before it has
    /// been seen RELEASED or has been passed to [`remove`](Self::remove).
    #[inline]
    pub(crate) unsafe fn push_back(&mut self, waiter: &Waiter, waker: Waker) {
        let prev = self.tail;
        // SAFETY: the links of a waiter that is IDLE or PUT_OFF belong to its owner, who called us.
        waiter.links.with_mut(|links| unsafe {
            *links = Links { prev, next: ptr::null(), waker: Some(waker) };
        });
        // Relaxed: the state is read by the owner, or under the lock that we hold.
        waiter.state.store(QUEUED, Ordering::Relaxed);
        let this = ptr::from_ref(waiter);
        // SAFETY: `prev` is null or a waiter of this list.
        unsafe { self.set_next(prev, this) };
        self.tail = this;
    }

    /// Takes the oldest waiter out, marks it RELEASED and returns its waker.
    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<Waker> {
        // SAFETY: `head` is null or a waiter in this list, and those are alive: they have neither
        // been seen RELEASED nor been removed.
        let waiter = unsafe { self.head.as_ref() }?;
        // SAFETY: it is QUEUED, and the lock is held.
        let waker = unsafe { self.unlink(waiter) };
        // Release pairs with the Acquire in `Waiter::state`. The owner may free the waiter as soon as it sees this, so
        // it is not accessed below.
        waiter.state.store(RELEASED, Ordering::Release);
        waker
    }

    /// Takes `waiter` out of the list, wherever it is, and returns its waker. Returns `None` if it was
    /// already released.
    ///
    /// # Safety
    ///
    /// `waiter` was pushed to this list.
    pub(crate) unsafe fn remove(&mut self, waiter: &Waiter) -> Option<Waker> {
        // Relaxed: only the lock's holder moves a waiter out of QUEUED.
        if waiter.state.load(Ordering::Relaxed) != QUEUED {
            return None;
        }
        // SAFETY: it is QUEUED, the caller guarantees that it is in this list, and the lock is held.
        let waker = unsafe { self.unlink(waiter) };
        waiter.state.store(DONE, Ordering::Relaxed);
        waker
    }

    /// Returns true if `waiter` is still queued, and its waker wakes another task than `waker` does.
    ///
    /// # Safety
    ///
    /// `waiter` was pushed to this list.
    pub(crate) unsafe fn wants_waker(&self, waiter: &Waiter, waker: &Waker) -> bool {
        waiter.state.load(Ordering::Relaxed) == QUEUED
            // SAFETY: it is QUEUED in this list, and `&self` means that the lock is held.
            && waiter.links.with(|links| unsafe {
                !(*links).waker.as_ref().is_some_and(|stored| stored.will_wake(waker))
            })
    }

    /// Replaces the waker of a queued `waiter`. Returns the old waker, or the new one if the waiter has been released.
    /// The caller drops it after the lock is released.
    ///
    /// # Safety
    ///
    /// `waiter` was pushed to this list.
    pub(crate) unsafe fn replace_waker(&mut self, waiter: &Waiter, waker: Waker) -> Option<Waker> {
        if waiter.state.load(Ordering::Relaxed) != QUEUED {
            return Some(waker);
        }
        // SAFETY: it is QUEUED in this list, and the lock is held.
        waiter.links.with_mut(|links| unsafe { (*links).waker.replace(waker) })
    }

    /// Takes `waiter` out of the list and returns its waker.
    ///
    /// # Safety
    ///
    /// `waiter` is in this list.
    #[inline]
    unsafe fn unlink(&mut self, waiter: &Waiter) -> Option<Waker> {
        let (prev, next, waker) = waiter.links.with_mut(|links| {
            // SAFETY: a QUEUED waiter's links belong to the lock's holder.
            let links = unsafe { &mut *links };
            (links.prev, links.next, links.waker.take())
        });
        // SAFETY: the neighbours of a waiter in this list are null or in this list.
        unsafe {
            self.set_next(prev, next);
            self.set_prev(next, prev);
        }
        waker
    }

    /// Sets the forward link of `waiter`, or the list's head if it is null.
    ///
    /// # Safety
    ///
    /// `waiter` is null or in this list.
    #[inline]
    unsafe fn set_next(&mut self, waiter: *const Waiter, next: *const Waiter) {
        // SAFETY: waiters in the list are alive, and their links belong to the lock's holder.
        match unsafe { waiter.as_ref() } {
            // SAFETY: as above.
            Some(waiter) => waiter.links.with_mut(|links| unsafe { (*links).next = next }),
            None => self.head = next,
        }
    }

    /// Sets the backward link of `waiter`, or the list's tail if it is null.
    ///
    /// # Safety
    ///
    /// `waiter` is null or in this list.
    #[inline]
    unsafe fn set_prev(&mut self, waiter: *const Waiter, prev: *const Waiter) {
        // SAFETY: waiters in the list are alive, and their links belong to the lock's holder.
        match unsafe { waiter.as_ref() } {
            // SAFETY: as above.
            Some(waiter) => waiter.links.with_mut(|links| unsafe { (*links).prev = prev }),
            None => self.tail = prev,
        }
    }
}
