//! Virtual time, for tests: it stands still while anything is going on, and when everything is idle it
//! jumps to the next deadline.
//!
//! Idle means: all workers sleep and no task is ready; no closure of the blocking pool runs or waits for a thread; no
//! thread in `block_on` is being polled or was woken (`outside.rs`); and with sources of I/O, all of that for a while,
//! for the OS may be about to deliver something. Nobody sits on the OS, where an event could wake a worker
//! that still counts as asleep. The poller's thread looks, every 50 µs at first and
//! every millisecond after some time, as long as there is a deadline to jump to. No other thread pays
//! anything for it, but those in `block_on` on such a runtime, which are counted.
//!
//! The look is taken twice, with everything that changes when something happens in between compared: what
//! is awake on one side while the other is looked at can't slip through.

use std::time::{Duration, Instant};

use windlass_timer::{NEVER, in_nanos};

use super::{Poller, timers};
use crate::primitives::{Arc, thread};
use crate::sched::Pool;

/// The shortest and the longest time between two looks.
const PAUSE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(1));
/// How long a runtime with sources of I/O has to be idle.
const SETTLED: Duration = Duration::from_millis(5);

/// Who moves the time waits so long for another thread that fires.
const LONGEST_WAKE: Duration = Duration::from_secs(1);

/// What the poller's thread remembers of a runtime with virtual time.
pub(super) struct Idleness {
    pause: Duration,
    seen: Option<(Signature, Instant)>,
}

/// Changes when something happens.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Signature {
    turns: u64,
    ticks: u64,
}

impl Idleness {
    pub(super) fn new() -> Self {
        Self { pause: PAUSE.0, seen: None }
    }

    /// How long until the next look.
    pub(super) fn pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(PAUSE.1);
        pause
    }

    /// Jumps to the next deadline if everything is idle.
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
        turns: pool.poller().outside.turns(),
        ticks: pool.slots.iter().map(|slot| slot.counters.tick.get()).sum(),
    }
}

fn is_idle(pool: &Pool) -> bool {
    pool.poller().is_quiet_outside(pool)
        && pool.sleepers.sleeping_settled() + pool.poller().outside.workers() >= pool.present()
        && !pool.has_shared_work()
        && !pool.has_root()
        && !pool.slots.iter().any(|slot| slot.has_work())
}

impl Poller {
    /// True if time moves only when it is told to.
    pub(crate) fn is_virtual(&self) -> bool {
        self.clock.is_virtual()
    }

    /// Moves the time to the next deadline, and fires what is due; false if there is none.
    pub(crate) fn jump(&self) -> bool {
        let next = self.timers.settle();
        if next == NEVER {
            return false;
        }
        // What is due is fired first, be it by another thread: time must not pass over it.
        let now = self.clock.now();
        self.move_to(if self.timers.is_waking() { now } else { next });
        true
    }

    /// Moves the time forward, and fires what is due by then.
    pub(crate) fn advance(&self, by: Duration) {
        self.move_to(self.clock.now().saturating_add(in_nanos(by)));
    }

    fn move_to(&self, time: u64) {
        // The end of time would fire what is never to fire.
        self.clock.move_to(time.min(NEVER - 1));
        let mut since = Instant::now();
        while self.timers.is_firing(self.clock.now()) {
            // A portion may fire nothing, and only move timers within their wheels.
            if self.is_due() {
                self.fire_due();
                since = Instant::now();
            } else if timers::fires() || since.elapsed() > LONGEST_WAKE {
                // It is this thread that fires, further out, and goes on; or a waker blocks.
                return;
            } else {
                thread::yield_now();
            }
        }
    }
}
