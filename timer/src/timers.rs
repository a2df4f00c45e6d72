//! The timers of a runtime.

use std::task::Waker;

use windlass_sync::primitives::{Arc, Mutex};

use crate::batch::FiringPass;
use crate::coalescer::{Coalescer, LastFiring};
use crate::holders::ShardRef;
use crate::policy::{OUTSIDE_SHARDS, SHARDS_PER_LOOK};
use crate::timekeeper::{Driver, NEVER, Timekeeper};

/// The timers of a runtime, with a shard for each worker.
///
/// The runtime drives them: it provides the time, asks for the next deadline, and fires the timers that are due.
///
/// # Examples
///
/// A runtime with one worker, whose time stands still:
///
/// ```
/// use std::pin::Pin;
/// use std::sync::OnceLock;
/// use std::task::{Context, Waker};
/// use std::time::{Duration, Instant};
/// use windlass_timer::{Driver, Host, NEVER, ShardRef, Sleep, Timers, nanos};
///
/// struct Still(u64);
///
/// impl Driver for Still {
///     fn now(&self) -> u64 {
///         self.0
///     }
///
///     fn wake_timekeeper(&self) {}
/// }
///
/// fn timers() -> &'static Timers {
///     static TIMERS: OnceLock<Timers> = OnceLock::new();
///     TIMERS.get_or_init(|| Timers::new(1, Box::new(Still(nanos(Instant::now())))))
/// }
///
/// struct Here;
///
/// impl Host for Here {
///     fn offer(_: &Waker, mut take: impl FnMut(&ShardRef) -> bool) {
///         take(timers().worker(0));
///     }
///
///     fn with_current<R>(see: impl FnOnce(&ShardRef) -> R) -> Option<R> {
///         Some(see(timers().worker(0)))
///     }
/// }
///
/// assert!(timers().is_empty() && !timers().in_use());
/// let mut sleep = Sleep::<Here>::after(Duration::from_secs(3600));
/// let mut context = Context::from_waker(Waker::noop());
/// assert!(Pin::new(&mut sleep).poll(&mut context).is_pending());
///
/// let deadline = nanos(sleep.deadline().unwrap());
/// assert_eq!((timers().len(), timers().next()), (1, deadline));
/// // The thread may sleep until the deadline.
/// assert_eq!(timers().keep_time(NEVER), deadline);
/// timers().wake_up();
/// assert!(timers().is_due(deadline) && !timers().is_due(timers().now()));
/// assert!(timers().overdue(0).is_none() && !timers().is_due_near(0, 0));
/// assert_eq!(timers().fire(deadline, |wakers| wakers.drain(..).for_each(Waker::wake)), 1);
/// assert!(Pin::new(&mut sleep).poll(&mut context).is_ready());
///
/// timers().fired(deadline, 1);
/// assert!(!timers().is_firing(deadline) && !timers().is_waking());
/// // No thread other than the worker has armed a timer.
/// assert_eq!(timers().next_outside(0), NEVER);
/// assert_eq!(timers().fire_outside(0, deadline, |_| unreachable!()), 0);
/// assert_eq!(timers().publish_exact_next(), NEVER);
/// // A worker that falls asleep wakes no timekeeper, because there is none.
/// timers().entrust();
/// assert_eq!(timers().wakes(), 0);
/// assert!(timers().close().is_empty());
/// # use std::future::Future;
/// ```
pub struct Timers {
    /// Those of the workers, then those of outside threads.
    shards: Box<[ShardRef]>,
    workers: usize,
    timekeeper: Arc<Timekeeper>,
    coalescer: Mutex<Coalescer>,
    /// Published by the coalescer.
    last_firing: LastFiring,
}

impl Timers {
    /// Creates the timers of a runtime with this many workers.
    pub fn new(workers: usize, driver: Box<dyn Driver>) -> Self {
        let timekeeper = Arc::new(Timekeeper::new(driver));
        Self {
            shards: (0..workers + OUTSIDE_SHARDS)
                .map(|_| ShardRef::new(timekeeper.clone()))
                .collect(),
            workers,
            timekeeper,
            coalescer: Mutex::new(Coalescer::new()),
            last_firing: LastFiring::new(),
        }
    }

    /// Returns the shard of a worker.
    pub fn worker(&self, index: usize) -> &ShardRef {
        // Spare workers share the shards. The branch avoids a division, because every timer comes here.
        &self.shards[if index < self.workers { index } else { index % self.workers }]
    }

    /// Returns a shard for a thread that is not a worker. Any number is valid.
    pub fn outside(&self, number: usize) -> &ShardRef {
        &self.shards[self.workers + number % (self.shards.len() - self.workers)]
    }

    /// Returns the next deadline of the [shard of an outside thread](Self::outside), or an earlier time, or [`NEVER`].
    pub fn next_outside(&self, number: usize) -> u64 {
        self.outside(number).next()
    }

    /// Returns the next deadline of all shards, or an earlier time, or [`NEVER`] if no timer is armed.
    pub fn next(&self) -> u64 {
        self.shards.iter().map(|shard| shard.next()).min().unwrap_or(NEVER)
    }

    /// Returns true if a timer is armed, or was armed recently.
    pub fn in_use(&self) -> bool {
        self.next() != NEVER
    }

    /// Publishes and returns the exact next deadline, without those of cancelled timers. Takes all locks.
    pub fn publish_exact_next(&self) -> u64 {
        self.shards.iter().map(|shard| shard.publish_exact_next()).min().unwrap_or(NEVER)
    }

    /// Returns the runtime's time.
    pub fn now(&self) -> u64 {
        self.timekeeper.driver.now()
    }

    /// Makes the current thread the timekeeper. The thread is about to sleep, until `at_most` at the latest, and looks
    /// at the timers when it wakes up. Returns the time until which it may sleep, which may be in the past.
    pub fn keep_time(&self, at_most: u64) -> u64 {
        let mut next = self.next();
        loop {
            // The promise is the deadline itself, not the coalesced time. Otherwise a slightly earlier deadline would
            // wake the timekeeper, although it can wait for the others.
            self.timekeeper.promise(next.min(at_most));
            let again = self.next();
            if again >= next.min(at_most) {
                break;
            }
            next = again;
        }
        self.last_firing.fire_at(next).min(at_most)
    }

    /// Ends the current thread's time as the timekeeper. It looks at the timers before it sleeps again.
    pub fn wake_up(&self) {
        self.timekeeper.wake_up();
    }

    /// Leaves the current worker's timers to the timekeeper. Wakes the timekeeper if there is one and it would look too
    /// late.
    ///
    /// A worker calls this, after a `SeqCst` fence, when it leaves, or when it is about to sleep and is not the
    /// timekeeper.
    pub fn entrust(&self) {
        if self.timekeeper.is_present() {
            self.timekeeper.notify_after_fence(self.next());
        }
    }

    /// Returns true if it is time to fire.
    pub fn is_due(&self, now: u64) -> bool {
        self.last_firing.fire_at(self.next()) <= now
    }

    /// Returns the next deadline, or an earlier time, and the runtime's time `lag` nanoseconds ago, if it was time to fire
    /// then. Looks at each shard once, and at the clock only if a timer is armed.
    pub fn overdue(&self, lag: u64) -> Option<(u64, u64)> {
        self.overdue_by(self.next(), lag)
    }

    fn overdue_by(&self, next: u64, lag: u64) -> Option<(u64, u64)> {
        if next == NEVER {
            return None;
        }
        let now = self.now().saturating_sub(lag);
        (self.last_firing.fire_at(next) <= now).then_some((next, now))
    }

    /// Returns true if it is time to fire in the [shard of a worker](Self::worker), or in one of a few others. With each
    /// `turn` the others are the next ones, in a ring, and with few shards they are all.
    pub fn is_due_near(&self, worker: usize, turn: usize) -> bool {
        let start = turn.wrapping_mul(SHARDS_PER_LOOK) % self.shards.len();
        let ring = self.shards[start..].iter().chain(&self.shards[..start]);
        let own = self.worker(worker).next();
        let next = ring.take(SHARDS_PER_LOOK).map(|shard| shard.next()).fold(own, u64::min);
        self.overdue_by(next, 0).is_some()
    }

    /// Fires the timers that are due, except in shards where another thread does, and returns their number. More timers
    /// may be due. `wake` is called with batches of wakers, in order, and removes them.
    pub fn fire(&self, now: u64, wake: impl FnMut(&mut Vec<Waker>)) -> usize {
        let mut pass = FiringPass::new(now, false);
        self.fire_pass(&mut pass, wake);
        pass.fired()
    }

    /// Like [`fire`](Self::fire), but for a thread that must not be blocked. Skips timers whose wakers [may
    /// block](Driver::may_block), and those behind them in their shards. The second value is true if there were any;
    /// another thread has to fire them.
    ///
    /// ```
    /// use windlass_timer::{Driver, Timers};
    /// # struct Still;
    /// # impl Driver for Still {
    /// #     fn now(&self) -> u64 { 0 }
    /// #     fn wake_timekeeper(&self) {}
    /// # }
    ///
    /// let timers = Timers::new(1, Box::new(Still));
    /// assert_eq!(timers.fire_own(0, |wakers| wakers.clear()), (0, false));
    /// ```
    pub fn fire_own(&self, now: u64, wake: impl FnMut(&mut Vec<Waker>)) -> (usize, bool) {
        let mut pass = FiringPass::new(now, true);
        self.fire_pass(&mut pass, wake);
        (pass.fired(), pass.refused)
    }

    fn fire_pass(&self, pass: &mut FiringPass, mut wake: impl FnMut(&mut Vec<Waker>)) {
        let mut wakers = Vec::new();
        for shard in &self.shards {
            if pass.is_over() {
                break;
            }
            if shard.next() <= pass.now {
                shard.fire(pass, &mut wakers, &mut wake);
            }
        }
    }

    /// Like [`fire_own`](Self::fire_own), but only for the [shard of an outside thread](Self::outside).
    pub fn fire_outside(
        &self,
        number: usize,
        now: u64,
        mut wake: impl FnMut(&mut Vec<Waker>),
    ) -> usize {
        let mut pass = FiringPass::new(now, true);
        self.outside(number).fire(&mut pass, &mut Vec::new(), &mut wake);
        pass.fired()
    }

    /// Returns true if a timer is due, or some thread is waking one. Takes all locks.
    pub fn is_firing(&self, now: u64) -> bool {
        self.shards.iter().any(|shard| shard.is_firing(now))
    }

    /// Returns true if some thread has taken timers out and has yet to wake them. Takes all locks.
    pub fn is_waking(&self) -> bool {
        self.shards.iter().any(|shard| shard.is_waking())
    }

    /// Records that a thread has fired this many timers together, which decides whether to coalesce.
    pub fn fired(&self, now: u64, timers: usize) {
        let mut coalescer = self.coalescer.lock();
        self.last_firing.set(coalescer.fired(now, timers));
    }

    /// Closes all shards. Returns the wakers of all armed timers, for the caller to wake: when these timers are polled,
    /// they move to another runtime.
    pub fn close(&self) -> Vec<Waker> {
        self.shards.iter().flat_map(|shard| shard.close()).collect()
    }

    /// Returns the number of armed timers.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.len()).sum()
    }

    /// Returns true if no timer is armed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how often the timekeeper was woken because of a deadline that was earlier than its promise.
    pub fn wakes(&self) -> usize {
        self.timekeeper.wakes()
    }
}

impl std::fmt::Debug for Timers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Timers").field("shards", &self.shards).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    use super::*;

    /// A clock that is set by hand and counts how often it is read.
    #[derive(Default)]
    struct ByHand {
        now: AtomicU64,
        readings: AtomicU64,
    }

    impl Driver for std::sync::Arc<ByHand> {
        fn now(&self) -> u64 {
            self.readings.fetch_add(1, Relaxed);
            self.now.load(Relaxed)
        }

        fn wake_timekeeper(&self) {}
    }

    /// A worker that computes looked at all shards at each split point.
    #[test]
    fn a_look_near_is_at_ones_own_shard_and_a_few_others_in_turn() {
        const WORKERS: usize = 64;
        let clock = std::sync::Arc::<ByHand>::default();
        let timers = Timers::new(WORKERS, Box::new(clock.clone()));
        let turns = timers.shards.len().div_ceil(SHARDS_PER_LOOK);
        assert!((0..turns).all(|turn| !timers.is_due_near(0, turn)));
        assert_eq!(timers.overdue(0), None);
        assert_eq!(clock.readings.load(Relaxed), 0, "no timer is armed");

        let _timer = timers.worker(40).arm(1_000_000, Waker::noop());
        let seen_by = |worker, from| {
            let turns = from..from + turns;
            turns.filter(|&turn| timers.is_due_near(worker, turn)).count()
        };
        assert_eq!((seen_by(0, 0), seen_by(40, 0)), (0, 0), "it is not due");
        clock.now.store(2_000_000, Relaxed);
        assert_eq!(seen_by(40, 0), turns, "its worker sees it at once");
        assert!((0..2 * turns).all(|from| (1..=2).contains(&seen_by(0, from))), "others in turn");
        assert_eq!(timers.overdue(0), Some((1_000_000, 2_000_000)));
        assert_eq!(timers.overdue(1_500_000), None);

        let few = Timers::new(4, Box::new(clock));
        let _timer = few.outside(3).arm(1_000_000, Waker::noop());
        assert!((0..3).all(|turn| few.is_due_near(0, turn)), "where there are few, they are all");
    }
}
