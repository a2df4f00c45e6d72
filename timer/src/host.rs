//! How a timer finds its runtime. The futures of this crate are made for a [`Host`]; the runtime crate is one,
//! and programs see the futures that are made for it.

use std::task::Waker;
use std::time::Instant;

use windlass_sync::primitives::plain::{AtomicBool, Ordering as Plain};

use crate::lease::Home;
use crate::nanos::instant;

/// What timers need of the runtimes of this process. It is a type without a value: all timers have the
/// same host, and none of them has to carry it.
pub trait Host: 'static {
    /// Offers the shards of the current runtimes, the nearest first, until one is taken (`true`). The
    /// last is the global runtime's, which is started for it if need be; but not for a task that is about to be
    /// cancelled, as `waker` tells.
    fn offer(waker: &Waker, take: impl FnMut(&Home) -> bool);

    /// Gives `see` the shard of the current runtime, if there is one.
    fn with_current<R>(see: impl FnOnce(&Home) -> R) -> Option<R>;
}

/// True once there has been a runtime in virtual time.
static VIRTUAL_TIME: AtomicBool = AtomicBool::new(false);

/// Announces that a runtime in virtual time is about to start.
pub fn expect_virtual_time() {
    VIRTUAL_TIME.store(true, Plain::Relaxed);
}

/// Returns the current runtime's time if it runs in virtual time, and `Instant::now()` otherwise.
pub fn now<H: Host>() -> Instant {
    if VIRTUAL_TIME.load(Plain::Relaxed) { virtual_now::<H>() } else { Instant::now() }
}

#[cold]
fn virtual_now<H: Host>() -> Instant {
    H::with_current(|home| instant(home.now())).flatten().unwrap_or_else(Instant::now)
}
