//! The poller's part in the timers: the thread in the seat is the timekeeper, and any thread that is awake fires timers
//! that are due.
//!
//! Tasks whose timers a worker fires go onto that worker's queue, in order. Tasks whose timers the poller's thread
//! fires go through the lane; it leaves timers whose wakers may block to another thread (`foreign.rs`). A manual loop
//! takes the place of the thread in the seat.

use std::cell::Cell;
use std::io;
use std::task::{RawWakerVTable, Waker};
use std::time::Duration;

use windlass_sync::Parker;
use windlass_timer::{NEVER, Timers, in_nanos};

use super::{Clock, Poller, Selector, foreign, keeping_time, wake_all};
use crate::context;
use crate::primitives::Arc;
use crate::sched::policy::TIMELESS;
use crate::task;

windlass_sync::thread_cell!(static FIRES: bool = false);

/// Returns true if the current thread is firing timers, and is in one of their wakers.
pub(crate) fn fires() -> bool {
    FIRES.with(Cell::get)
}

/// Calls `fire`, in which [`fires`] is true.
fn firing<R>(fire: impl FnOnce() -> R) -> R {
    let outer = FIRES.with(|fires| fires.replace(true));
    let result = fire();
    FIRES.with(|fires| fires.set(outer));
    result
}

impl Poller {
    pub(crate) fn timers(&self) -> &Timers {
        &self.timers
    }

    /// Returns true if a timer is due.
    pub(crate) fn is_due(&self) -> bool {
        self.timers.overdue(0).is_some()
    }

    /// Fires the timers that are due, and returns their number.
    pub(crate) fn fire_due(&self) -> usize {
        self.fire_overdue(0)
    }

    /// Fires the timers that were due `lag` nanoseconds ago or earlier, and returns their number.
    pub(super) fn fire_overdue(&self, lag: u64) -> usize {
        let Some((due, now)) = self.timers.overdue(lag) else { return 0 };
        let wake = |wakers: &mut Vec<Waker>| wake_all(wakers.drain(..));
        let fired = firing(|| {
            if !foreign::hands_on() {
                return self.timers.fire(now, wake);
            }
            let (fired, left) = self.timers.fire_own(now, wake);
            if left {
                self.foreign.leave();
            }
            fired
        });
        if fired > 0 && !self.is_virtual() {
            self.note_lateness(due, now.saturating_add(lag));
            self.timers.fired(now, fired);
        }
        fired
    }

    /// Notes how long after its deadline the first of some timers was fired.
    fn note_lateness(&self, due: u64, now: u64) {
        let lateness = now.saturating_sub(due);
        context::with_worker(|worker| match worker {
            Some(worker) => worker.observer.note_firing(now, lateness),
            None => self.lateness.record_shared(lateness),
        });
    }

    /// Parks a thread in `block_on` until it is unparked. Meanwhile the thread keeps to the deadlines of its own shard,
    /// so that its timers take one wake-up instead of two.
    ///
    /// Nothing depends on that, because the timekeeper keeps to the deadlines of all shards.
    pub(crate) fn park(&self, parker: &Parker) {
        let number = context::thread_number();
        loop {
            let due = self.timers.next_outside(number);
            let Some(pause) = self.clock.until(due) else { return parker.park() };
            if keeping_time(|| parker.park_timeout(pause)) {
                return;
            }
            let now = self.timers.now();
            let wake = |wakers: &mut Vec<Waker>| wake_all(wakers.drain(..));
            if firing(|| self.timers.fire_outside(number, now, wake)) == 0 {
                // Another thread fires them, or has to, because one of their wakers may block.
                return parker.park();
            }
            self.note_lateness(due, now);
        }
    }

    /// Makes the current thread the timekeeper. Returns how long it may sleep, which is no longer than `at_most`.
    pub(super) fn keep_time(&self, at_most: Option<Duration>) -> Option<Duration> {
        // In models a pause is over at once. What others do meanwhile is up to the schedule.
        let at_most = if TIMELESS { at_most.map(|_| Duration::ZERO) } else { at_most };
        if self.is_virtual() {
            // No deadline comes by waiting, but the first timer that is armed has to wake the thread.
            let _ = self.timers.keep_time(NEVER);
            return at_most;
        }
        let latest = match at_most {
            None => NEVER,
            Some(pause) => self.clock.now().saturating_add(in_nanos(pause)),
        };
        self.clock.until(self.timers.keep_time(latest))
    }

    /// Makes sure that the timekeeper looks at the timers in time, so that the current thread need not. A worker that
    /// is about to be parked calls it after the fence of its announcement.
    pub(crate) fn entrust_timers(&self) {
        self.timers.entrust();
    }

    /// Blocks a manual loop until there are events or the next deadline comes, but no longer than `timeout`, and wakes
    /// the tasks that wait for them.
    pub(crate) fn wait_in_loop(&self, timeout: Option<Duration>) -> io::Result<()> {
        let Some(mut seat) = self.try_seat() else { return Ok(()) };
        seat.try_wait(timeout)?;
        self.thread.looked();
        seat.leave();
        Ok(())
    }

    /// Sets the alarm of a manual loop, so that its descriptor also becomes readable at the next deadline.
    pub(crate) fn set_alarm(&self) -> io::Result<()> {
        self.selector.alarm(self.keep_time(None))
    }
}

/// A runtime, as its timers see it.
pub(super) struct TimerDriver {
    selector: Arc<Selector>,
    clock: Arc<Clock>,
    /// Workers look at the timers by themselves.
    has_workers: bool,
}

impl TimerDriver {
    pub(super) fn new(selector: &Arc<Selector>, clock: &Arc<Clock>, manual: bool) -> Self {
        let has_workers = !manual && !clock.is_virtual();
        Self { selector: selector.clone(), clock: clock.clone(), has_workers }
    }
}

impl windlass_timer::Driver for TimerDriver {
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn real_now(&self) -> u64 {
        self.clock.lasting()
    }

    fn own_wakers(&self) -> Option<&'static RawWakerVTable> {
        Some(task::waker_vtable())
    }

    fn may_block(&self, waker: &Waker) -> bool {
        foreign::may_block(waker)
    }

    fn wake_timekeeper(&self) {
        self.selector.kick();
    }

    fn is_on_worker(&self) -> bool {
        // A worker that is known to stand still will not look at the timers before it sleeps.
        self.has_workers
            && context::with_worker(|worker| {
                worker.is_some_and(|worker| {
                    Arc::ptr_eq(&worker.pool().poller().selector, &self.selector)
                        && !worker.slot().is_seen_stalled()
                })
            })
    }
}
