//! The poller's part in the timers: the worker in the seat and the poller's thread are their keepers,
//! and whoever harvests fires what is due. What they promise each other is in `windlass_timer`'s `vigil`.
//!
//! - **The worker in the seat** sleeps to the next deadline, exactly. A timer costs one wake-up, of the
//!   thread that goes on to run the task.
//! - **The poller's thread** does so while nobody sits and nobody is awake. What it fires goes through the
//!   lane, except for what foreign threads wait for. While it stands guard, it leaves the workers' timers
//!   to them for [`LAG`], and foreign ones to nobody.
//! - **A worker that is awake** fires when it runs dry, and every 50 µs or so. Where there are timers only, the
//!   thread on guard looks every millisecond whether workers do, and rests when they don't because one sits.
//! - **A manual loop** takes the place of the thread.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use windlass_timer::{Keeper, NEVER, Timers, in_nanos};

use super::{Ordering, Poller, Woken, wake_all};
use crate::context;

/// How long the thread on guard leaves a timer that is due to the workers, in nanoseconds.
const LAG: u64 = 50_000;

windlass_sync::thread_cell!(static FIRES: bool = false);

/// True if the current thread fires timers, and this is one of their wakers.
pub(super) fn fires() -> bool {
    FIRES.with(Cell::get)
}

impl Poller {
    pub(crate) fn timers(&self) -> &Timers {
        &self.timers
    }

    /// True if something is due, of the workers' timers so much ago.
    pub(super) fn is_due(&self, lag: u64) -> bool {
        self.timers.in_use() && self.timers.is_due(self.timers.now(), lag)
    }

    /// Fires what is due, of the workers' timers so much ago; gives how many.
    pub(super) fn fire(&self, lag: u64) -> usize {
        if !self.timers.in_use() {
            return 0;
        }
        let now = self.timers.now();
        if !self.timers.is_due(now, lag) {
            return 0;
        }
        let fire = || self.timers.fire(now, lag, |wakers| wake_all(wakers.drain(..)));
        let outer = FIRES.with(|fires| fires.replace(true));
        let fired = context::with_worker(|worker| match worker {
            Some(worker) => worker.wake_in_order(fire),
            None => fire(),
        });
        FIRES.with(|fires| fires.set(outer));
        if fired > 0 && !self.is_virtual() {
            self.timers.fired(now, fired);
        }
        fired
    }

    /// A worker looks at the timers, and there is nothing else to harvest: the thread on guard wants to know.
    pub(super) fn note_look(&self) {
        if !self.in_use() && self.timers.in_use() {
            self.is_looking();
        }
    }

    /// How long the worker in the seat may sleep.
    pub(super) fn seat_timeout(&self) -> Option<Duration> {
        self.clock.until(self.timers.fall_asleep(Keeper::Seat, NEVER, false))
    }

    /// A worker has left the seat, and does not keep the timers any more. The thread is woken only if it
    /// does not look anyway soon after the next of them is due; if it is, it stands guard.
    pub(super) fn leave_timers(&self) {
        // Relaxed: the thread that is woken has it from the ring, and one that is not may miss it.
        self.timers_left.store(true, Ordering::Relaxed);
        self.timers.leave(Keeper::Seat);
    }

    /// Blocks the poller's thread, which keeps the timers if nobody sits.
    pub(super) fn keep_wait(&self, pause: Option<Duration>, guard: bool) -> io::Result<Woken> {
        let timeout = self.thread_timeout(pause, guard);
        let woken = self.wait(timeout);
        self.timers.wake_up(Keeper::Thread);
        woken
    }

    fn thread_timeout(&self, pause: Option<Duration>, guard: bool) -> Option<Duration> {
        // In models a pause is over at once. What others do meanwhile is up to the schedule.
        let pause = if cfg!(loom) { pause.map(|_| Duration::ZERO) } else { pause };
        let at_most = match pause {
            None => NEVER,
            Some(pause) => self.clock.now().saturating_add(in_nanos(pause)),
        };
        if self.is_virtual() {
            // In virtual time no deadline comes by waiting; but a first one has to be told of.
            self.timers.fall_asleep(Keeper::Thread, NEVER, false);
            return pause;
        }
        if self.is_seated() && !guard {
            self.timers.fall_asleep_idle(Keeper::Thread, at_most);
            return pause;
        }
        self.clock.until(self.timers.fall_asleep(Keeper::Thread, at_most, guard))
    }

    /// The thread is awake: fires what nobody else does.
    pub(super) fn look_at_timers(&self, guard: bool) {
        self.fire(if guard || self.is_seated() { LAG } else { 0 });
    }

    /// Said by a worker that is about to sleep and does not sit. With `guard`, another is awake.
    pub(crate) fn entrust_timers(&self, guard: bool) {
        self.timers.entrust(guard);
    }

    /// Blocks a manual loop until the next deadline, for `timeout` at the most.
    pub(crate) fn loop_wait(&self, timeout: Option<Duration>) -> io::Result<Woken> {
        let timeout = self.thread_timeout(timeout, false);
        let woken = self.wait(timeout);
        self.timers.wake_up(Keeper::Thread);
        woken
    }

    /// Sets the alarm of a manual loop, so that its descriptor tells of the next deadline, too.
    pub(crate) fn set_alarm(&self) -> io::Result<()> {
        self.alarm(self.thread_timeout(None, false))
    }
}
