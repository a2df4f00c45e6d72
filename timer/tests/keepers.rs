//! A keeper that sleeps is woken for a deadline that is earlier than its promise, and for no other.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use windlass_timer::{Driver, Home, Host, Keeper, NEVER, Sleep, Timers, epoch, nanos};

/// The one runtime of this test, whose time stands still.
static TIMERS: OnceLock<Timers> = OnceLock::new();

struct Still(u64);

impl Driver for Still {
    fn now(&self) -> u64 {
        self.0
    }

    fn ring(&self) {}
}

struct Here;

impl Host for Here {
    fn offer(_: &Waker, mut take: impl FnMut(&Home) -> bool) {
        take(timers().foreign(0));
    }

    fn with_current<R>(see: impl FnOnce(&Home) -> R) -> Option<R> {
        Some(see(timers().foreign(0)))
    }
}

fn timers() -> &'static Timers {
    TIMERS.get_or_init(|| Timers::new(1, false, Box::new(Still(nanos(Instant::now())))))
}

/// A time that is so many seconds after the one at which the clock stands.
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
fn a_keeper_is_rung_for_an_earlier_deadline_only() {
    let timers = timers();
    let rings = |expected: usize, what: &str| assert_eq!(timers.rings(), expected, "{what}");
    assert_eq!(timers.fall_asleep(Keeper::Thread, NEVER, false), NEVER);

    let _first = armed(100);
    rings(1, "the first there is");
    timers.wake_up(Keeper::Thread);
    assert_eq!(timers.fall_asleep(Keeper::Thread, NEVER, false), nanos(time(100)));

    let mut later = armed(200);
    let _equal = armed(100);
    rings(1, "later, and equal");
    let earlier = armed(50);
    rings(2, "earlier");
    timers.wake_up(Keeper::Thread);
    timers.fall_asleep(Keeper::Thread, NEVER, false);
    later.reset(time(60));
    rings(2, "moved, but not before the others");
    later.reset(time(40));
    rings(3, "moved before all others");
    drop((earlier, later));
    rings(3, "cancelled");

    // One who is awake looks by itself; and what one of two keepers has promised, the other need not.
    timers.wake_up(Keeper::Thread);
    let _at_once = armed(1);
    rings(3, "awake");
    assert_eq!(timers.fall_asleep(Keeper::Seat, NEVER, false), nanos(time(1)));
    timers.fall_asleep_idle(Keeper::Thread, NEVER);
    rings(3, "left to the other");
    timers.leave(Keeper::Seat);
    rings(4, "left to nobody");
}
