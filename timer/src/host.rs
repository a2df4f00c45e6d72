//! How a timer finds its runtime: the runtime crate says so, once for the process.

use std::sync::OnceLock;
use std::task::{Context, Poll};
use std::time::Instant;

use windlass_sync::primitives::Arc;
use windlass_sync::primitives::plain::{AtomicBool, Ordering as Plain};

use crate::nanos::instant;
use crate::shard::Shard;

/// What timers need of the runtimes of this process. All runtimes have the same.
pub trait Host: Send + Sync {
    /// Offers the shards of the current runtimes, the nearest first, until one is taken (`true`). The
    /// last is the global runtime's.
    fn offer(&self, take: &mut dyn FnMut(&Arc<Shard>) -> bool);

    /// Offers the shard of the current runtime, if there is one.
    fn offer_current(&self, take: &mut dyn FnMut(&Arc<Shard>));

    /// Ready if the current task has budget left.
    fn proceed(&self, cx: &mut Context<'_>) -> Poll<()>;

    /// Something was ready.
    fn spend(&self);
}

static HOST: OnceLock<&'static dyn Host> = OnceLock::new();
/// True once there has been a runtime whose time is not the OS's.
static TEST_CLOCKS: AtomicBool = AtomicBool::new(false);

/// Introduces the host. Said by each runtime before it starts; the first counts.
pub fn set_host(host: &'static dyn Host) {
    let _ = HOST.set(host);
}

/// Said by a runtime with a clock of its own before it starts.
pub fn expect_test_clocks() {
    TEST_CLOCKS.store(true, Plain::Relaxed);
}

/// # Panics
///
/// If no runtime was ever started, by a timer on the executor of somebody else.
pub(crate) fn host() -> &'static dyn Host {
    *HOST.get().expect(
        "a windlass timer was polled before there was any windlass runtime: start one, for instance \
         with `windlass::Handle::current()`, or run the future with `windlass::block_on`",
    )
}

/// The time: that of the current runtime if it has a clock of its own
/// (`Builder::manual_time`), and else `Instant::now()`.
///
/// Code that asks here instead of asking `Instant` can be tested in virtual time.
pub fn now() -> Instant {
    if TEST_CLOCKS.load(Plain::Relaxed) { virtual_now() } else { Instant::now() }
}

#[cold]
fn virtual_now() -> Instant {
    let mut now = None;
    if let Some(host) = HOST.get() {
        host.offer_current(&mut |shard| now = instant(shard.now()));
    }
    now.unwrap_or_else(Instant::now)
}
