//! What all timer futures have in common: a timer that is armed or not.

use std::fmt;
use std::marker::PhantomData;
use std::task::{Context, Poll};

use windlass_sync::budget;

use crate::host::Host;
use crate::lease::{Home, Lease};
use crate::shard::Ended;
use crate::timekeeper::NEVER;

/// When a timer is due, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum When {
    At(u64),
    /// Counted from the first poll that has to wait.
    After(u64),
}

impl When {
    /// True for a point in time that has come.
    fn is_over(self, now: u64) -> bool {
        matches!(self, Self::At(deadline) if deadline <= now)
    }
}

/// A timer that is armed from its first poll on, if that has to wait, until it is dropped.
pub(crate) struct Wait<H> {
    armed: Option<Lease>,
    host: PhantomData<fn() -> H>,
}

impl<H: Host> Wait<H> {
    pub(crate) const fn new() -> Self {
        Self { armed: None, host: PhantomData }
    }

    /// Ready when the time has come. Arms the timer otherwise, on the runtime that is current now, and
    /// makes `when` absolute.
    ///
    /// A timer that has fired is told without a look at the budget: what is polled before it may use that up in
    /// every poll of the task, and the timer is there to end it.
    #[inline]
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, when: &mut When) -> Poll<()> {
        if let Some(lease) = self.armed.take() {
            match lease.poll(cx.waker()) {
                Ok(mut lease) => {
                    // It may have been moved to a time that is past, which the wheel has not seen yet.
                    let moved = lease.take_moved();
                    self.armed = Some(lease);
                    return if moved { self.poll_moved(*when) } else { Poll::Pending };
                }
                Err(Ended::Fired) => {
                    budget::spend();
                    return Poll::Ready(());
                }
                // Its runtime is gone. Another will do, and counts in the OS's time.
                Err(Ended::Closed { ahead }) => {
                    if let When::At(deadline) = when {
                        *deadline -= if *deadline == NEVER { 0 } else { ahead.min(*deadline) };
                    }
                }
            }
        }
        let mut due = false;
        let waker = cx.waker();
        H::offer(waker, |home| match arm(home, cx, when) {
            Arm::Due => {
                due = true;
                true
            }
            Arm::Armed(lease) => {
                self.armed = Some(lease);
                true
            }
            Arm::Refused => false,
        });
        // With neither, nobody has taken it: the task that waits is of a runtime that is shutting down, and is
        // being cancelled.
        if due {
            budget::spend();
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl<H: Host> Wait<H> {
    /// Ready if a timer that was moved, and is still armed, is due.
    #[cold]
    fn poll_moved(&mut self, when: When) -> Poll<()> {
        let is_due = self.armed.as_ref().is_some_and(|lease| when.is_over(lease.now()));
        if !is_due || !budget::has_budget() {
            return Poll::Pending;
        }
        self.armed = None;
        budget::spend();
        Poll::Ready(())
    }
}

enum Arm {
    Due,
    Armed(Lease),
    Refused,
}

fn arm(home: &Home, cx: &Context<'_>, when: &mut When) -> Arm {
    let now = home.now();
    let deadline = match *when {
        When::At(deadline) => deadline,
        When::After(time) => now.saturating_add(time),
    };
    // A loop over times that are over from the start is held up by the budget. Then the timer is armed
    // nevertheless, and fires at the next look.
    if deadline <= now && budget::has_budget() {
        return Arm::Due;
    }
    match home.arm(deadline, cx.waker()) {
        Some(lease) => {
            *when = When::At(deadline);
            Arm::Armed(lease)
        }
        // Another may have another clock.
        None => Arm::Refused,
    }
}

impl<H> Wait<H> {
    /// Moves the timer to another time. If it is armed it stays so, with the waker it has.
    pub(crate) fn reset(&mut self, deadline: u64) {
        self.armed = self.armed.take().and_then(|lease| lease.reset(deadline).ok());
    }

    pub(crate) fn is_armed(&self) -> bool {
        self.armed.is_some()
    }
}

impl<H> fmt::Debug for Wait<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wait").field(&self.armed).finish()
    }
}
