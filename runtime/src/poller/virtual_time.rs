//! Virtual time, for tests: it stands still while anything is going on, and jumps to the next deadline when the runtime
//! is idle.
//!
//! A runtime is idle if all of these hold:
//!
//! - all workers sleep, and no task is ready;
//! - no closure of the blocking pool runs or waits for a thread;
//! - no thread in `block_on` is being polled or has been woken (`outside_activity.rs`);
//! - no foreign waker waits to be called for an event (`foreign.rs`);
//! - if the runtime has sources of I/O, the above has held for a while, because the OS may be about to deliver an
//!   event.
//!
//! No worker takes the seat in virtual time, so no event can wake a worker that still counts as asleep. The poller's
//! thread checks while there is a deadline to jump to: every 50 µs at first, then less often, down to every
//! millisecond. The only other threads that pay for this are those in `block_on` on such a runtime, which are counted.
//!
//! A *signature* of counters that change with every activity is taken before and after the check. If the two differ,
//! something ran while the check was looking elsewhere, and the check fails.

use std::time::{Duration, Instant};

use windlass_timer::{NEVER, in_nanos};

use super::{Poller, deadlines, foreign};
use crate::primitives::{Arc, thread};
use crate::sched::Pool;
use crate::sched::policy::{IDLE_CHECK_PAUSE, LONGEST_FIRING, SETTLED};

/// Detects that a runtime in virtual time is idle. Belongs to the poller's thread.
pub(super) struct Idleness {
    pause: Duration,
    seen: Option<(Signature, Instant)>,
}

/// Counters that change whenever something runs.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Signature {
    activations: u64,
    ticks: u64,
}

impl Idleness {
    pub(super) fn new() -> Self {
        Self { pause: IDLE_CHECK_PAUSE.0, seen: None }
    }

    /// Returns the time until the next check.
    pub(super) fn pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(IDLE_CHECK_PAUSE.1);
        pause
    }

    /// Jumps to the next deadline if the runtime is idle.
    pub(super) fn look(&mut self, pool: &Arc<Pool>) {
        let poller = pool.poller();
        let before = signature(pool);
        if poller.poll_events() > 0 || !is_idle(pool) || signature(pool) != before {
            self.seen = None;
            return;
        }
        let since = match self.seen {
            Some((seen, since)) if seen == before => since,
            _ => Instant::now(),
        };
        self.seen = Some((before, since));
        if (!poller.has_sources() || since.elapsed() >= SETTLED) && poller.jump() {
            *self = Self::new();
        }
    }
}

fn signature(pool: &Pool) -> Signature {
    Signature {
        activations: pool.poller().outside.activations(),
        ticks: pool.slots.iter().map(|slot| slot.counters.tick.get()).sum(),
    }
}

fn is_idle(pool: &Pool) -> bool {
    pool.poller().is_quiet_outside(pool)
        && pool.sleepers.sleeping_settled() + pool.poller().outside.workers() >= pool.present()
        && !pool.has_shared_work()
        && !pool.has_root()
        && !pool.poller().has_foreign_wakers()
        && !pool.slots.iter().any(|slot| slot.has_work())
}

impl Poller {
    /// Returns true in virtual time.
    pub(crate) fn is_virtual(&self) -> bool {
        self.clock.is_virtual()
    }

    /// Moves the time to the next deadline and fires the timers that are due. Returns false if there is no deadline.
    pub(crate) fn jump(&self) -> bool {
        let next = self.timers.publish_exact_next();
        if next == NEVER {
            return false;
        }
        // Timers that are due fire first, on whichever thread, because time must not pass over them.
        let now = self.clock.now();
        self.move_to(if self.timers.is_waking() { now } else { next });
        true
    }

    /// Moves the time forward and fires the timers that are due by then.
    pub(crate) fn advance(&self, by: Duration) {
        self.move_to(self.clock.now().saturating_add(in_nanos(by)));
    }

    fn move_to(&self, time: u64) {
        // `NEVER` itself would fire timers that must never fire.
        self.clock.move_to(time.min(NEVER - 1));
        let mut since = Instant::now();
        while self.timers.is_firing(self.clock.now()) {
            // One pass may fire nothing and only move timers within their wheels.
            if self.is_due() {
                self.fire_due();
                if foreign::hands_on() && self.foreign.is_left() {
                    // Another thread fires the rest, and time stands still until it is done.
                    return;
                }
                since = Instant::now();
            } else if deadlines::fires() || since.elapsed() > LONGEST_FIRING {
                // This thread is itself firing, further up the stack, and will continue there; or a waker blocks.
                return;
            } else {
                thread::yield_now();
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::task::Waker;

    use super::*;

    /// The poller's thread had taken an event, but had not yet asked a thread to call its waker. Time passed over the
    /// event, to the time-out of the task that waited for it.
    #[test]
    fn a_runtime_is_not_idle_while_a_waker_waits_to_be_called() {
        let pool = Pool::for_tests(1);
        assert!(is_idle(&pool));
        pool.poller().foreign.put([Waker::noop().clone()]);
        assert!(!is_idle(&pool));
    }
}
