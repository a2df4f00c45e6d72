//! A look at what a runtime does.

use crate::primitives::plain::Ordering;
use crate::sched::{Counters, Pool};

/// A snapshot of a runtime's counters. Each is exact, but they are read one after the other while
/// the runtime goes on: sums need not add up to the last task.
///
/// # Examples
///
/// ```
/// let runtime = windlass::Builder::new().workers(2).build()?;
/// runtime.block_on(async { windlass::spawn(async {}).await.unwrap() });
/// let metrics = runtime.metrics();
/// assert_eq!(metrics.workers.len(), 2);
/// assert_eq!(metrics.tasks_spawned, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Metrics {
    /// The workers, spares not included.
    pub workers: Vec<WorkerMetrics>,
    /// The places for spare workers, whether one works there or not.
    pub spares: Vec<WorkerMetrics>,
    /// Spare workers at work.
    pub spares_active: usize,
    /// Tasks spawned since the runtime started; closures of `spawn_blocking` don't count.
    pub tasks_spawned: u64,
    /// Tasks spawned and not yet finished.
    pub tasks_alive: u64,
    /// Tasks that ended, in whatever way.
    pub tasks_finished: u64,
    /// Tasks that ended by a panic.
    pub tasks_panicked: u64,
    /// Tasks waiting in the queue for what foreign threads spawn and wake.
    pub injector_len: usize,
    /// Tasks waiting in the queue for what the poller wakes.
    pub lane_len: usize,
    /// Computations that wait to be begun.
    pub compute_queued: usize,
    /// Threads of the blocking pool.
    pub blocking_threads: usize,
    /// Threads of the blocking pool that wait for a closure.
    pub blocking_idle: usize,
    /// Closures that wait for a thread of the blocking pool.
    pub blocking_queued: usize,
    /// Timers that are armed.
    pub timers: usize,
    /// Times a sleeping thread was woken because a timer was armed that is due before it would have
    /// woken up by itself.
    pub timer_rings: usize,
}

/// The counters of one worker.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Polls of tasks, those in the middle of a computation included; and fork-join jobs that it took from other workers
    /// when it had nothing else to do.
    pub polls: u64,
    /// Times it took tasks, or a fork-join job, from another worker.
    pub steals: u64,
    /// Times it went to sleep.
    pub parks: u64,
    /// Times it was woken.
    pub wakeups: u64,
    /// Tasks waiting in its own queue.
    pub queue_len: usize,
}

impl Metrics {
    pub(crate) fn of(pool: &Pool) -> Self {
        let all: Vec<_> = pool
            .slots
            .iter()
            .map(|slot| WorkerMetrics {
                // The tick moves at the start and at the end of each poll, and of each wait for a job.
                polls: slot
                    .counters
                    .tick
                    .get()
                    .div_ceil(2)
                    .saturating_sub(slot.counters.waits.get()),
                steals: slot.counters.steals.get(),
                parks: slot.counters.parks.get(),
                wakeups: slot.counters.wakeups.get(),
                queue_len: slot.stealer.len() + usize::from(!slot.lifo.is_empty()),
            })
            .collect();
        let (workers, spares) = all.split_at(pool.config.workers);
        let counters =
            || pool.slots.iter().map(|slot| &slot.counters).chain(std::iter::once(&*pool.foreign));
        let sum = |what: fn(&Counters) -> u64| counters().map(what).sum::<u64>();
        // Finished before spawned: a task that ends in between must not count as ended only.
        let tasks_panicked = sum(|counters| counters.panicked.get());
        let refused = pool.refused.get();
        let tasks_finished = sum(|counters| counters.finished.get()) + refused;
        let tasks_spawned = pool.spawned() + refused;
        let blocking = pool.blocking.counts();
        Self {
            workers: workers.to_vec(),
            spares: spares.to_vec(),
            spares_active: pool.slots[pool.config.workers..]
                .iter()
                .filter(|slot| slot.occupied.load(Ordering::Relaxed))
                .count(),
            tasks_spawned,
            tasks_alive: tasks_spawned.saturating_sub(tasks_finished),
            tasks_finished,
            tasks_panicked,
            injector_len: pool.injector.len(),
            lane_len: pool.lane.len(),
            compute_queued: pool.roots.len(),
            blocking_threads: blocking.threads,
            blocking_idle: blocking.idle,
            timers: pool.poller().timers().len(),
            timer_rings: pool.poller().timers().wakes(),
            blocking_queued: blocking.queued,
        }
    }
}
