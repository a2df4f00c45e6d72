//! Wakers that are not of our own tasks: hand-made ones, those of other executors, those of combinators. Any of them
//! may block, although it should not, and nothing else may wait for that.
//!
//! **On a worker.** The wakers of our own tasks come first, in order; they never block. A single foreign waker is
//! called in place, because nothing is behind it. Several go into a list that all threads share, from which they are
//! taken one at a time, so that those behind one that blocks can be reached. The worker goes on until the list is
//! empty. If it is blocked, the next worker that looks at the OS continues with the list. So does the poller's thread,
//! if it finds at two looks in a row that wakers wait and that none was taken in between. It does look, because a
//! blocked worker counts as awake, and the monitor is switched on while any worker is awake. With timers, the claim of
//! their shard is taken over instead: see `windlass_timer`'s `firing_claim.rs`.
//!
//! **On the poller's thread**, which nobody watches, no foreign waker is called. It puts those of events into the list,
//! leaves timers with such wakers in their wheels, and asks another thread to call the ones and fire the others
//! (`hand_on.rs`).
//!
//! One thread is asked at a time. Once it has begun, it may be held up by a waker, so from then on the next thread may
//! be asked. The poller's thread leaves something and then asks; the thread that was asked notes that it begins and
//! then looks. Both are exchanges of one flag ([`Asked`]). So if the poller's thread finds that a thread was asked
//! already, that thread will see what was left.
//!
//! **At the end of a runtime** the wakers of its sources and timers come into the list too, and the thread that shuts
//! down starts a thread that calls them (`shutdown.rs`): it does not rely on the poller's thread, which may have left.
//! That thread looks once more when it leaves, and calls what there is itself: no worker is there for it to watch over.
//!
//! Nothing else needs a handshake: a thread that puts wakers into the list sees to them itself, or asks for a thread
//! that does. Other threads come by as well, but nothing relies on them. The counters order nothing; the list is behind
//! a lock.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr;
use std::task::Waker;

use super::{Poller, outside_activity};
use crate::context;
use crate::primitives::plain::{AtomicBool, AtomicUsize, Ordering as Plain};
use crate::primitives::{AtomicBool as ModelBool, Mutex, Ordering};
use crate::task::{self, quietly};

// True if the current thread must not call foreign wakers.
windlass_sync::thread_cell!(static HANDS_ON: bool = false);

/// Returns true for a waker that may block or take its time.
pub(super) fn may_block(waker: &Waker) -> bool {
    !ptr::eq(waker.vtable(), task::waker_vtable())
        && !windlass_sync::is_thread_waker(waker)
        && !outside_activity::is_busy_waker(waker)
}

/// Has the current thread hand foreign wakers on from now on, or no longer.
pub(super) fn set_hands_on(hands_on: bool) {
    HANDS_ON.with(|cell| cell.set(hands_on));
}

/// Returns true on the poller's thread.
pub(super) fn hands_on() -> bool {
    HANDS_ON.with(Cell::get)
}

/// Foreign wakers that wait to be called.
#[derive(Default)]
pub(super) struct ForeignWakers {
    list: Mutex<VecDeque<Waker>>,
    /// The length of the list.
    waiting: AtomicUsize,
    /// The number of wakers taken out so far.
    taken: AtomicUsize,
    /// True if the poller's thread has left wakers or timers to another thread, which it has yet to ask.
    left: AtomicBool,
    pub(super) asked: Asked,
}

/// Set while a thread was asked to call wakers, and has not begun.
#[derive(Default)]
pub(crate) struct Asked(ModelBool);

impl Asked {
    /// Returns true if a thread has to be asked. Otherwise one was asked already, which will see all that the caller
    /// did before.
    pub(crate) fn ask(&self) -> bool {
        // Release pairs with the Acquire in `begin`.
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// Called by the thread that was asked, before it looks for wakers to call.
    pub(crate) fn begin(&self) {
        // Acquire pairs with the Release in `ask`. An exchange, because a store could stay behind the
        // looks that follow.
        self.0.swap(false, Ordering::AcqRel);
    }
}

impl ForeignWakers {
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.load(Plain::Relaxed) > 0
    }

    pub(super) fn put(&self, wakers: impl IntoIterator<Item = Waker>) {
        let mut list = self.list.lock();
        list.extend(wakers);
        self.waiting.store(list.len(), Plain::Relaxed);
    }

    fn take(&self) -> Option<Waker> {
        let mut list = self.list.lock();
        let waker = list.pop_front()?;
        self.waiting.store(list.len(), Plain::Relaxed);
        self.taken.fetch_add(1, Plain::Relaxed);
        Some(waker)
    }

    /// Returns how many were taken out so far.
    pub(super) fn taken(&self) -> usize {
        self.taken.load(Plain::Relaxed)
    }

    /// Notes that the poller's thread has left something to another thread.
    pub(super) fn leave(&self) {
        self.left.store(true, Plain::Relaxed);
    }

    /// Notes that another thread sees to what the poller's thread has left.
    pub(super) fn left_to_another(&self) {
        self.left.store(false, Plain::Relaxed);
    }

    /// Returns true if the poller's thread has left something to another thread.
    pub(super) fn is_left(&self) -> bool {
        self.left.load(Plain::Relaxed)
    }
}

impl Poller {
    /// Wakes the tasks that waited for events.
    pub(super) fn wake(&self, wakers: Vec<Waker>) {
        let mut foreign = wake_own(wakers);
        if foreign.is_empty() {
            return;
        }
        if hands_on() {
            self.foreign.put(foreign);
            return self.foreign.leave();
        }
        if foreign.len() > 1 {
            self.foreign.put(foreign.drain(1..));
        }
        in_order(|| foreign.into_iter().for_each(call));
        self.wake_foreign();
    }

    /// Calls the foreign wakers that wait, and returns their number.
    #[inline]
    pub(super) fn wake_foreign(&self) -> usize {
        if self.foreign.is_waiting() && !hands_on() { self.wake_waiting() } else { 0 }
    }

    #[cold]
    fn wake_waiting(&self) -> usize {
        let mut woken = 0;
        // One at a time, so that others can reach those that are left in the list.
        while let Some(waker) = self.foreign.take() {
            in_order(|| call(waker));
            woken += 1;
        }
        woken
    }

    /// Returns true if foreign wakers wait to be called.
    pub(crate) fn has_foreign_wakers(&self) -> bool {
        self.foreign.is_waiting()
    }
}

/// Calls the wakers that do not block, and returns the others.
pub(super) fn wake_own(wakers: Vec<Waker>) -> Vec<Waker> {
    let mut foreign = Vec::new();
    in_order(|| {
        for waker in wakers {
            if may_block(&waker) {
                foreign.push(waker);
            } else {
                call(waker);
            }
        }
    });
    foreign
}

/// Calls a waker. If it panics, that affects nothing else.
fn call(waker: Waker) {
    quietly(|| waker.wake());
}

/// Has the tasks that `wake` wakes queue up in that order, on a worker.
pub(super) fn in_order(wake: impl FnOnce()) {
    context::with_worker(|worker| match worker {
        Some(worker) => worker.wake_in_order(wake),
        None => wake(),
    });
}
