//! Finds the runtime of a timer. The futures of this crate are generic over a [`Host`]. The runtime crate implements
//! it, and programs use the futures with that host.

use std::task::Waker;
use std::time::Instant;

use windlass_sync::primitives::plain::{AtomicBool, Ordering as Plain};

use crate::holders::ShardRef;
use crate::nanos::instant;

/// Gives timers access to the runtimes of this process.
///
/// It is implemented by a type without values: all timers have the same host, and none of them has to store it.
pub trait Host: 'static {
    /// Offers the shards of the current runtimes to `take`, the nearest first, until it returns true.
    ///
    /// The last one is the global runtime's. That runtime is started if necessary, unless `waker` belongs to a task
    /// that is about to be cancelled.
    fn offer(waker: &Waker, take: impl FnMut(&ShardRef) -> bool);

    /// Calls `see` with the shard of the current runtime, and returns its result, or `None` if there is no runtime.
    fn with_current<R>(see: impl FnOnce(&ShardRef) -> R) -> Option<R>;
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
    H::with_current(|shard| instant(shard.now())).flatten().unwrap_or_else(Instant::now)
}
