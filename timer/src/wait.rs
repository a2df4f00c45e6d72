//! The core of all timer futures: a timer that may be armed.

use std::fmt;
use std::marker::PhantomData;
use std::task::{Context, Poll};

use windlass_sync::waits::WaitsFor;
use windlass_sync::{budget, waits};

use crate::holders::{ArmedTimer, ShardRef};
use crate::host::Host;
use crate::shard::Ended;
use crate::timekeeper::NEVER;

/// The time at which a timer is due, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    At(u64),
    /// Counted from the first poll that has to wait.
    After(u64),
}

impl When {
    /// Returns true for a point in time that has come.
    fn is_over(self, now: u64) -> bool {
        matches!(self, Self::At(deadline) if deadline <= now)
    }
}

/// A timer that is armed by the first poll that has to wait, and disarmed when it is dropped.
pub(crate) struct DeadlineWait<H> {
    armed: Option<ArmedTimer>,
    host: PhantomData<fn() -> H>,
}

/// Notes that the task waits for this time.
fn note(when: When) {
    if let When::At(deadline) = when {
        waits::note(WaitsFor::Timer(deadline));
    }
}

impl<H: Host> DeadlineWait<H> {
    pub(crate) const fn new() -> Self {
        Self { armed: None, host: PhantomData }
    }

    /// Waits until the time has come. The first poll that has to wait arms the timer, on the runtime that is current
    /// then, and makes `when` absolute.
    ///
    /// A timer that has fired is ready even if no budget is left. A future that is polled before it may use up the
    /// budget in every poll of the task, and the purpose of the timer may be to end that future.
    #[inline]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, when: &mut When) -> Poll<()> {
        if let Some(timer) = self.armed.take() {
            match timer.poll(cx.waker()) {
                Ok(mut timer) => {
                    // It may have been moved to a time that is past, and not have been fired yet.
                    let moved = timer.take_moved();
                    self.armed = Some(timer);
                    note(*when);
                    return if moved { self.poll_moved(*when) } else { Poll::Pending };
                }
                Err(Ended::Fired) => {
                    budget::spend();
                    return Poll::Ready(());
                }
                // Its runtime is gone. Another one takes over, in the OS's time.
                Err(Ended::Closed { ahead }) => {
                    if let When::At(deadline) = when {
                        *deadline -= if *deadline == NEVER { 0 } else { ahead.min(*deadline) };
                    }
                }
            }
        }
        let mut due = false;
        H::offer(cx.waker(), |shard| {
            due = self.arm(shard, cx, when);
            due || self.armed.is_some()
        });
        // If it is neither due nor armed, no runtime has accepted it: the task belongs to a runtime that is shutting
        // down, and is being cancelled.
        if due {
            budget::spend();
            return Poll::Ready(());
        }
        note(*when);
        Poll::Pending
    }

    /// Arms the timer, unless the shard's runtime is shutting down. Returns true, and arms nothing, if it is due.
    #[inline]
    fn arm(&mut self, shard: &ShardRef, cx: &Context<'_>, when: &mut When) -> bool {
        let now = shard.now();
        let deadline = match *when {
            When::At(deadline) => deadline,
            When::After(time) => now.saturating_add(time),
        };
        // Without budget the timer is armed although it is due, and fires soon. So a task that loops over times in the
        // past lets others run.
        if deadline <= now && budget::has_budget() {
            return true;
        }
        self.armed = shard.arm(deadline, cx.waker());
        // The next shard may belong to a runtime with another clock. So `when` stays as it is unless this one is taken.
        if self.armed.is_some() {
            *when = When::At(deadline);
        }
        false
    }

    /// Polls a timer that was moved and is still armed. Ready if it is due.
    #[cold]
    fn poll_moved(&mut self, when: When) -> Poll<()> {
        let is_due = self.armed.as_ref().is_some_and(|timer| when.is_over(timer.now()));
        if !is_due || !budget::has_budget() {
            return Poll::Pending;
        }
        self.armed = None;
        budget::spend();
        Poll::Ready(())
    }
}

impl<H> DeadlineWait<H> {
    /// Moves the timer to another time. If it is armed, it stays armed and keeps its waker.
    pub(crate) fn reset(&mut self, deadline: u64) {
        self.armed = self.armed.take().and_then(|timer| timer.reset(deadline).ok());
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.armed.is_some()
    }
}

impl<H> fmt::Debug for DeadlineWait<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeadlineWait").field(&self.armed).finish()
    }
}
