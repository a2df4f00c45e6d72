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
//! leaves timers with such wakers in their wheels, and asks a thread of the blocking pool to call the wakers and fire
//! the timers. It does so itself only if no thread is available.
//!
//! One thread is asked at a time. Once it has begun, it may be held up by a waker, so from then on the next thread may
//! be asked. The poller's thread leaves something and then asks; the thread that was asked notes that it begins and
//! then looks. Both are exchanges of one flag ([`Asked`]). So if the poller's thread finds that a thread was asked
//! already, that thread will see what was left.
//!
//! Nothing else needs a handshake: a thread that puts wakers into the list calls them itself, or asks for a thread that
//! does. Other threads come by as well, but nothing relies on them. The counters order nothing; the list is behind a
//! lock.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ptr;
use std::task::Waker;

use super::{Poller, outside_activity};
use crate::blocking;
use crate::context::{self, Role};
use crate::primitives::plain::{AtomicBool, AtomicUsize, Ordering as Plain};
use crate::primitives::{Arc, AtomicBool as ModelBool, Mutex, Ordering};
use crate::sched::Pool;
use crate::task::{self, Origin, quietly};

// True if the current thread must not call foreign wakers.
windlass_sync::thread_cell!(static HANDS_ON: bool = false);

/// Returns true for a waker that may block or take its time.
pub(super) fn may_block(waker: &Waker) -> bool {
    !ptr::eq(waker.vtable(), task::waker_vtable())
        && !windlass_sync::is_thread_waker(waker)
        && !outside_activity::is_busy_waker(waker)
}

/// Makes the current thread hand on foreign wakers from now on.
pub(super) fn hand_on() {
    // In models wakers do not block, and there is no blocking pool.
    HANDS_ON.with(|cell| cell.set(cfg!(not(loom))));
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
    asked: Asked,
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

    pub(super) fn take_all(&self) -> VecDeque<Waker> {
        let mut list = self.list.lock();
        self.waiting.store(0, Plain::Relaxed);
        std::mem::take(&mut list)
    }

    /// Notes that the poller's thread has left something to another thread.
    pub(super) fn leave(&self) {
        self.left.store(true, Plain::Relaxed);
    }

    /// Returns true if the poller's thread has left something to another thread.
    pub(super) fn is_left(&self) -> bool {
        self.left.load(Plain::Relaxed)
    }
}

impl Poller {
    /// Wakes the tasks that waited for events.
    pub(super) fn wake(&self, wakers: Vec<Waker>) {
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

/// Makes sure, on the poller's thread, that foreign wakers are called.
#[derive(Default)]
pub(super) struct HandOn {
    /// The number of wakers that had been taken out of the list at the last look.
    taken: usize,
}

impl HandOn {
    pub(super) fn look(&mut self, pool: &Arc<Pool>) {
        let foreign = &pool.poller().foreign;
        let taken = foreign.taken.load(Plain::Relaxed);
        let stands_still = std::mem::replace(&mut self.taken, taken) == taken;
        if !(foreign.is_left() || (stands_still && foreign.is_waiting())) {
            return;
        }
        // Without this, a thread would be asked for at each look.
        if !foreign.asked.ask() {
            return;
        }
        foreign.left.store(false, Plain::Relaxed);
        let request = Request(Some(pool.clone()));
        if !blocking::run_at_once(pool, move || request.carry_out(), Origin::caller()) {
            HANDS_ON.with(|cell| cell.set(false));
            call_for_thread(pool);
            hand_on();
            foreign.left.store(false, Plain::Relaxed);
        }
    }
}

/// A request to call wakers. If no thread takes it, because the runtime ends, dropping it lets the poller's thread ask
/// again.
struct Request(Option<Arc<Pool>>);

impl Request {
    fn carry_out(mut self) {
        if let Some(pool) = self.0.take() {
            call_for_thread(&pool);
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take() {
            // The end of a runtime kicks the poller's thread after this.
            pool.poller().foreign.asked.begin();
            pool.poller().foreign.leave();
        }
    }
}

/// Calls foreign wakers and fires timers in place of the poller's thread.
fn call_for_thread(pool: &Pool) {
    let outer = context::role();
    // What wakers may do, and where the tasks that they wake go, doesn't depend on the thread.
    context::set_role(Role::Poller);
    pool.poller().foreign.asked.begin();
    pool.poller().wake_foreign();
    pool.poller().fire_due();
    context::set_role(outer);
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

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::sched::Worker;
    use crate::shutdown;

    /// While a thread took its time to begin, another one was asked at each look of the poller's thread.
    #[test]
    fn one_thread_is_asked_at_a_time() {
        let (start, started) = mpsc::channel::<()>();
        let started = Mutex::new(started);
        let pool = Pool::for_tests_with(1, |config| {
            config.max_blocking = 8;
            config.hooks.thread_start =
                Some(std::sync::Arc::new(move || _ = started.lock().recv()));
        });
        let asked = || pool.blocking.counts().spawned;
        let foreign = &pool.poller().foreign;
        let mut hand_on = HandOn::default();
        foreign.put([Waker::noop().clone()]);
        for _ in 0..5 {
            foreign.leave();
            hand_on.look(&pool);
            assert_eq!(asked(), 1, "it has not begun");
        }
        assert!(foreign.is_left() && foreign.is_waiting());

        drop(start);
        // This thread calls its own wakers again.
        while foreign.is_waiting() {
            std::thread::yield_now();
        }
        foreign.leave();
        hand_on.look(&pool);
        assert_eq!(asked(), 2, "the first may be held up by what it calls");

        shutdown::begin(&pool);
        Worker::new(pool.clone(), 0).unwrap().run();
        assert!(pool.is_over());
    }

    /// The closure of a thread that had not begun was dropped, and no other thread was asked after that.
    #[test]
    fn a_thread_is_asked_anew_if_the_end_of_the_runtime_comes_before_it_begins() {
        let (start, started) = mpsc::channel::<()>();
        let started = Mutex::new(started);
        let pool = Pool::for_tests_with(1, |config| {
            config.hooks.thread_start =
                Some(std::sync::Arc::new(move || _ = started.lock().recv()));
        });
        let foreign = &pool.poller().foreign;
        let mut hand_on = HandOn::default();
        let mut waits = || {
            foreign.put([Waker::noop().clone()]);
            foreign.leave();
            hand_on.look(&pool);
            foreign.is_waiting()
        };
        assert!(waits(), "the thread has not begun");
        shutdown::begin(&pool);
        assert!(!waits(), "there is no thread any more");

        drop(start);
        Worker::new(pool.clone(), 0).unwrap().run();
        assert!(pool.is_over());
    }
}
