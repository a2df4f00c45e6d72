//! How timers find the runtime they belong to.

use std::task::{Context, Poll};

use windlass_timer::{Host, Shard};

use crate::context::{self, Role};
use crate::coop;
use crate::global;
use crate::primitives::Arc;
use crate::sched::Pool;

/// Introduces the runtimes to the timers.
pub(crate) fn set_host() {
    windlass_timer::set_host(&Runtimes);
}

/// All runtimes of the process.
struct Runtimes;

impl Host for Runtimes {
    fn offer(&self, take: &mut dyn FnMut(&Arc<Shard>) -> bool) {
        if context::try_pool(|pool| take(shard(pool))) == Some(true) {
            return;
        }
        // A runtime that was entered is shutting down. The worker's own may go on; if that is shutting
        // down too, its tasks are being cancelled, and no timer is of any use to them.
        if context::role() == Role::Worker {
            context::with_worker(|worker| worker.map(|worker| take(shard(worker.pool()))));
            return;
        }
        take(shard(global::runtime().handle().pool()));
    }

    fn offer_current(&self, take: &mut dyn FnMut(&Arc<Shard>)) {
        context::try_pool(|pool| take(shard(pool)));
    }

    fn proceed(&self, cx: &mut Context<'_>) -> Poll<()> {
        coop::poll_proceed(cx)
    }

    fn spend(&self) {
        coop::spend();
    }
}

/// The current thread's shard of a pool: its own if it works there.
fn shard(pool: &Arc<Pool>) -> &Arc<Shard> {
    let timers = pool.poller().timers();
    context::with_worker(|worker| match worker {
        Some(worker) if Arc::ptr_eq(worker.pool(), pool) => timers.worker(worker.index()),
        _ => timers.foreign(context::thread_number()),
    })
}

/// Virtual time, for runtimes that were made with
/// [`Builder::manual_time`](crate::Builder::manual_time).
#[cfg(not(loom))]
pub mod test {
    use std::time::{Duration, Instant};

    use crate::context;

    /// Moves the time of the current runtime forward at once, and wakes all whose time has come. They
    /// run as soon as they get their turn, which is after this has returned.
    ///
    /// The time is moved in one go: a task that waits for the next second again and again sees one long
    /// wait. To have everybody act at their time, wait: `sleep(duration).await` does the same step by
    /// step.
    ///
    /// # Panics
    ///
    /// If the current runtime runs on the OS's time, or there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// # use windlass_runtime as windlass;
    /// use std::time::Duration;
    /// use windlass::timer::{sleep, test};
    ///
    /// let runtime = windlass::Builder::new().manual_time().build()?;
    /// runtime.block_on(async {
    ///     let start = test::now();
    ///     let nap = sleep(Duration::from_secs(60));
    ///     test::advance(Duration::from_secs(90));
    ///     nap.await; // its time has come already
    ///     assert_eq!(test::now() - start, Duration::from_secs(90));
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn advance(duration: Duration) {
        let poller = context::try_pool(|pool| pool.poller().clone())
            .expect("no current runtime: call this within `block_on`, or enter one");
        assert!(
            poller.is_virtual(),
            "this runtime runs on the OS's time, which can't be moved: build it with `manual_time`"
        );
        poller.advance(duration);
    }

    /// The time of the current runtime; the OS's outside of any. The same as
    /// [`timer::now`](crate::timer::now).
    pub fn now() -> Instant {
        windlass_timer::now()
    }
}
