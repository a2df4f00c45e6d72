//! Virtual time, for tests: it stands still while anything is going on, and when everything is idle it
//! jumps to the next deadline.
//!
//! Idle means: all workers sleep and no task is ready; no closure of the blocking pool runs or waits; no
//! thread in `block_on` is being polled or was woken; and with sources of I/O, all of that for a while,
//! for the OS may be about to deliver something. Nobody sits on the OS, where an event could wake a worker
//! that still counts as asleep. The poller's thread looks, every 50 µs at first and
//! every millisecond after some time, as long as there is a deadline to jump to. No other thread pays
//! anything for it, but those in `block_on` on such a runtime, which are counted.
//!
//! The look is taken twice, with everything that changes when something happens in between compared: what
//! is awake on one side while the other is looked at can't slip through.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use windlass_timer::{NEVER, in_nanos};

use super::{Poller, timers};
use crate::primitives::plain::{AtomicU64, AtomicUsize, Ordering as Plain};
use crate::primitives::{Arc, thread};
use crate::sched::Pool;

/// The shortest and the longest time between two looks.
const PAUSE: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(1));
/// How long a runtime with sources of I/O has to be idle.
const SETTLED: Duration = Duration::from_millis(5);

/// Who moves the time waits so long for another thread that fires.
const LONGEST_WAKE: Duration = Duration::from_secs(1);

/// What is known of those who can make things happen from outside.
#[derive(Default)]
pub(super) struct Outside {
    /// Threads in `block_on` that are being polled or were woken.
    busy: AtomicUsize,
    /// How often one has become so.
    turns: AtomicU64,
}

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
        if poller.harvest_sources() > 0 || !is_idle(pool) || signature(pool) != before {
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
        turns: pool.poller().outside.turns.load(Plain::SeqCst),
        ticks: pool.slots.iter().map(|slot| slot.counters.tick.get()).sum(),
    }
}

fn is_idle(pool: &Pool) -> bool {
    let blocking = pool.blocking.counts();
    pool.poller().outside.busy.load(Plain::SeqCst) == 0
        && pool.sleepers.sleeping_settled() >= pool.at_work()
        && !pool.has_shared_work()
        && !pool.has_root()
        && !pool.slots.iter().any(|slot| slot.has_work())
        && blocking.queued == 0
        && blocking.idle == blocking.threads
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
            if self.is_due(0) {
                self.fire(0);
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

/// Runs a future on the calling thread, which counts as busy except while it waits.
pub(crate) fn block_on<F: Future>(poller: &Arc<Poller>, future: F) -> F::Output {
    let mut future = pin!(future);
    let turn = Arc::new(Turn { state: AtomicUsize::new(IDLE), poller: poller.clone() });
    let _end = EndOnDrop(&turn);
    let mut own: Option<(Waker, std::sync::Arc<TurnWaker>)> = None;
    windlass_sync::block_on(poll_fn(|cx| {
        let kept = own.take().filter(|(waker, _)| waker.will_wake(cx.waker()));
        let (_, waker) = own.insert(kept.unwrap_or_else(|| {
            let inner = cx.waker().clone();
            let waker = TurnWaker { inner: inner.clone(), turn: turn.clone() };
            (inner, std::sync::Arc::new(waker))
        }));
        turn.begin();
        let waker = Waker::from(waker.clone());
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_pending() {
            turn.pause();
        }
        polled
    }))
}

const IDLE: usize = 0;
const RUNNING: usize = 1;
const WOKEN: usize = 2;
/// For good: whoever kept a waker may still use it.
const ENDED: usize = 3;

/// Counts a thread in `block_on` from the moment it is woken until it waits again.
struct Turn {
    state: AtomicUsize,
    poller: Arc<Poller>,
}

impl Turn {
    fn begin(&self) {
        if self.state.swap(RUNNING, Plain::SeqCst) == IDLE {
            self.count();
        }
    }

    fn wake(&self) {
        let woken = |state| (state != ENDED).then_some(WOKEN);
        if self.state.fetch_update(Plain::SeqCst, Plain::SeqCst, woken) == Ok(IDLE) {
            self.count();
        }
    }

    fn count(&self) {
        self.poller.outside.busy.fetch_add(1, Plain::SeqCst);
        self.poller.outside.turns.fetch_add(1, Plain::SeqCst);
    }

    /// The thread waits, unless it was woken in the meantime.
    fn pause(&self) {
        if self.state.compare_exchange(RUNNING, IDLE, Plain::SeqCst, Plain::SeqCst).is_ok() {
            self.uncount();
        }
    }

    fn end(&self) {
        if self.state.swap(ENDED, Plain::SeqCst) != IDLE {
            self.uncount();
        }
    }

    fn uncount(&self) {
        self.poller.outside.busy.fetch_sub(1, Plain::SeqCst);
        // Perhaps everything is idle now.
        self.poller.kick();
    }
}

/// Ends a turn also if the future panics, and while wakers are still there.
struct EndOnDrop<'a>(&'a Turn);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

struct TurnWaker {
    inner: Waker,
    turn: Arc<Turn>,
}

impl Wake for TurnWaker {
    fn wake(self: std::sync::Arc<Self>) {
        self.turn.wake();
        self.inner.wake_by_ref();
    }
}
