//! The timekeeper is woken for a deadline that is earlier than its promise, and for no other.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use windlass_timer::{Driver, Host, NEVER, ShardRef, Sleep, Timers, epoch, nanos};

/// The only runtime of this test. Its time stands still.
static TIMERS: OnceLock<Timers> = OnceLock::new();

struct Still(u64);

impl Driver for Still {
    fn now(&self) -> u64 {
        self.0
    }

    fn wake_timekeeper(&self) {}
}

struct Here;

impl Host for Here {
    fn offer(_: &Waker, mut take: impl FnMut(&ShardRef) -> bool) {
        take(timers().outside(0));
    }

    fn with_current<R>(see: impl FnOnce(&ShardRef) -> R) -> Option<R> {
        Some(see(timers().outside(0)))
    }
}

fn timers() -> &'static Timers {
    TIMERS.get_or_init(|| Timers::new(1, Box::new(Still(nanos(Instant::now())))))
}

/// Returns the time that is this many seconds after the one at which the clock stands.
fn time(seconds: u64) -> Instant {
    epoch() + Duration::from_nanos(timers().now()) + Duration::from_secs(seconds)
}

fn armed(seconds: u64) -> Sleep<Here> {
    let mut sleep = Sleep::until(time(seconds));
    let polled = Pin::new(&mut sleep).poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending() && sleep.is_armed());
    sleep
}

#[test]
fn the_timekeeper_is_woken_for_an_earlier_deadline_only() {
    let timers = timers();
    let wakes = |expected: usize, what: &str| assert_eq!(timers.wakes(), expected, "{what}");
    assert_eq!(timers.keep_time(NEVER), NEVER);

    let _first = armed(100);
    wakes(1, "the first there is");
    timers.wake_up();
    assert_eq!(timers.keep_time(NEVER), nanos(time(100)));

    let mut later = armed(200);
    let _equal = armed(100);
    wakes(1, "later, and equal");
    let earlier = armed(50);
    wakes(2, "earlier");
    timers.wake_up();
    timers.keep_time(NEVER);
    later.reset(time(60));
    wakes(2, "moved, but not before the others");
    later.reset(time(40));
    wakes(3, "moved before all others");
    drop((earlier, later));
    wakes(3, "cancelled");

    timers.wake_up();
    let _at_once = armed(1);
    wakes(3, "a thread is awake and looks by itself");
    timers.entrust();
    wakes(3, "there is no timekeeper");
    assert_eq!(timers.keep_time(NEVER), nanos(time(1)));
    timers.entrust();
    wakes(3, "it has seen the deadline");
}
