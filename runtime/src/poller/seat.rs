//! The seat: the one place from which a thread blocks on the OS and until the next deadline.
//!
//! tokio calls it the parked driver. The candidates are the workers: a worker that falls asleep takes the seat if it is
//! free, and is parked otherwise. The thread in the seat gets events and deadlines first hand: it wakes up, leaves the
//! seat and runs the tasks itself.
//!
//! # A thread always looks
//!
//! *While all workers sleep, one of them is in the seat.* A worker tries the seat's lock before it announces that it
//! sleeps, and finds it free, or taken
//!
//! - by a worker that sleeps there: that is what was to be shown;
//! - by a worker that takes events without blocking, or that is about to leave the seat: that worker is awake, and will
//!   try the seat itself before it sleeps. If it ends instead, as a spare does, it looks whether all others sleep and
//!   none of them in the seat, and if so, wakes one (`Pool::note_move_out`);
//! - by the poller's thread, which takes events now and then when no worker can. After it has released the lock, it
//!   passes a fence and looks whether all workers sleep and none of them in the seat; if so, it wakes one;
//! - by a thread that looks in this way, and has the lock for a moment to see whether it is free (`probe_seat`). After
//!   it has released the lock, it passes a fence and wakes a worker, unless one searches: the searcher has yet to
//!   announce that it sleeps, and to look.
//!
//! The threads of the last three cases see the worker asleep; or the worker, which also looks after its announcement
//! and a fence, sees that the lock is free and no worker has the seat (`Pool::nobody_looks`). Then it wakes a worker,
//! most likely itself, to try once more.
//!
//! While workers are awake and the seat is empty, they look themselves: when they run out of work, and after each round
//! of their queues. A worker that can't, because it is stuck in a poll, is noticed by the poller's thread
//! (`sched/monitor.rs`), which wakes another worker, or takes the seat itself if there is none: the last resort.
//!
//! # Deadlines
//!
//! The thread in the seat is the timers' *timekeeper*: it blocks until the next deadline, and `windlass_timer`'s
//! `timekeeper.rs` has the handshake by which a timer that is armed meanwhile wakes it.
//!
//! # Being called
//!
//! A worker in the seat is woken by the thread that takes it out of the sleepers' word: with a token, like a parked
//! worker, and with a kick, which the OS keeps until the worker waits. So no flag has to say which worker sleeps where.

use std::io;
use std::time::Duration;

use super::{Events, Poller, push};
use crate::primitives::{Ordering, TryLockGuard, fence};
use crate::sched::policy::BROKEN_OS_PAUSE;

impl Poller {
    /// Takes the seat for a worker, if it is free and workers may have it.
    pub(crate) fn take_seat(&self) -> Option<Seat<'_>> {
        if self.is_seat_of_thread() { None } else { self.try_seat() }
    }

    /// Takes the seat if it is free.
    pub(super) fn try_seat(&self) -> Option<Seat<'_>> {
        Some(Seat { events: self.events.try_lock()?, poller: self, has_deadline: false })
    }

    /// Returns true if the seat belongs to the poller's thread for good: where there are no events to take, and in
    /// virtual time, where no deadline comes by waiting.
    pub(crate) fn is_seat_of_thread(&self) -> bool {
        push::PUSHES || self.is_virtual()
    }

    /// Takes the seat for a moment. Returns true if it was empty, and no thread was taking events.
    pub(crate) fn probe_seat(&self) -> bool {
        let is_free = self.events.try_lock().is_some();
        // Partner of the fence of a worker's announcement: one that has found the lock taken by us is seen from here on
        // to sleep, and to search no more.
        fence(Ordering::SeqCst);
        is_free
    }
}

/// The right to block on the OS.
pub(crate) struct Seat<'a> {
    poller: &'a Poller,
    events: TryLockGuard<'a, Events>,
    /// True if the last wait had a time-out. If it had none, no timer was armed. A timer that was armed meanwhile has
    /// ended the wait with a kick, and the next wait sees it.
    has_deadline: bool,
}

impl Seat<'_> {
    /// Blocks until there are events, a timer is due, the time is over, or another thread kicks. Returns true if there
    /// are events or a timer is due. May return for no reason.
    pub(crate) fn wait(&mut self, at_most: Option<Duration>) -> bool {
        // The only possible errors mean that the instance is broken beyond repair. Then the poller's thread goes on
        // watching over the workers, which is the best that it can still do.
        if self.try_wait(at_most).is_err() {
            std::thread::sleep(BROKEN_OS_PAUSE);
        }
        self.has_events() || (self.has_deadline && self.poller.is_due())
    }

    /// Like [`wait`](Self::wait), but for a caller that can report the OS's error.
    pub(super) fn try_wait(&mut self, at_most: Option<Duration>) -> io::Result<()> {
        let timeout = self.poller.keep_time(at_most);
        self.has_deadline = timeout.is_some();
        self.poller.selector.wait(&mut self.events, timeout)
    }

    /// Returns true if the last wait has brought events.
    pub(crate) fn has_events(&self) -> bool {
        self.events.iter().next().is_some()
    }

    /// Leaves the seat, and wakes the tasks that wait for its events and for timers. Returns the number of events and
    /// timers.
    pub(crate) fn leave(self) -> usize {
        let Self { poller, mut events, has_deadline } = self;
        let (taken, wake) = poller.dispatch(&mut events);
        // Before the lock is released: the next timekeeper makes its promise after this.
        poller.timers.wake_up();
        drop(events);
        poller.wake(wake);
        taken + if has_deadline { poller.fire_due() } else { 0 }
    }
}
