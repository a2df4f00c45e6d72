//! A snapshot of a runtime's counters.

use std::time::Duration;

use crate::observe::{CountHistogram, Histogram, SiteMetrics, Summary, WakeLatency};
use crate::sched::{Counters, Pool};

/// A snapshot of a runtime's counters.
///
/// Each counter is exact, but they are read one after the other while the runtime works, so sums may be off by the
/// tasks that started or ended meanwhile.
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
    /// The workers, excluding spares.
    pub workers: Vec<WorkerMetrics>,
    /// The places for spare workers, whether in use or not.
    pub spares: Vec<WorkerMetrics>,
    /// Spare workers at work.
    pub spares_active: usize,
    /// Tasks spawned since the runtime started, excluding closures of `spawn_blocking`.
    pub tasks_spawned: u64,
    /// Tasks spawned and not yet finished.
    pub tasks_alive: u64,
    /// Tasks that have ended: returned, panicked or cancelled.
    pub tasks_finished: u64,
    /// Tasks that have panicked.
    pub tasks_panicked: u64,
    /// Tasks in the injector, the queue for tasks that outside threads spawn and wake.
    pub injector_len: usize,
    /// Tasks in the lane, the queue for tasks that the poller wakes.
    pub lane_len: usize,
    /// Computations that have not begun.
    pub compute_queued: usize,
    /// Threads of the blocking pool.
    pub blocking_threads: usize,
    /// Threads of the blocking pool that wait for a closure.
    pub blocking_idle: usize,
    /// Closures that wait for a thread of the blocking pool.
    pub blocking_queued: usize,
    /// Armed timers.
    pub timers: usize,
    /// The number of times that arming a timer has woken a sleeping thread, because the timer was due before the thread
    /// would have woken up.
    pub timer_wakeups: usize,
    /// Descriptors that are registered with the poller.
    pub fds: usize,
    /// Allocations of tasks since the runtime started: one for each task and each closure of `spawn_blocking`.
    pub task_allocations: u64,
    /// The times that polls have taken. Polls of more than some microseconds are measured; shorter polls are sampled.
    pub poll_time: Histogram,
    /// The times that woken tasks have waited for a worker. Sampled.
    pub wake_latency: WakeLatency,
    /// The delay of the first timer that was due, at each firing.
    pub timer_lateness: Histogram,
    /// The times that closures of `spawn_blocking` have waited for a thread. Each is measured.
    pub blocking_wait: Histogram,
    /// The times that computations have taken, each from when a worker began to compute until it ended.
    pub fork_join_time: Histogram,
    /// The number of tasks in a worker's queue, each time that the worker reads the clock.
    pub ready_tasks: CountHistogram,
    /// The spawn sites of the process, with what this runtime's tasks of each have done, those with
    /// the most polls first.
    pub sites: Vec<SiteMetrics>,
}

/// The counters of one worker.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// Polls of tasks, including those at split points of a computation, and fork-join jobs taken from
    /// other workers when idle.
    pub polls: u64,
    /// The number of times that the worker has stolen tasks or a fork-join job from another worker.
    pub steals: u64,
    /// The number of times that the worker has gone to sleep.
    pub parks: u64,
    /// The number of times that the worker has been woken.
    pub wakeups: u64,
    /// Tasks in the worker's own queue.
    pub queue_len: usize,
    /// The time in which the worker has run tasks and computed.
    pub busy: Duration,
    /// The part of `busy` that was spent in computations, up to the end of the last one.
    pub computing: Duration,
    /// The time in which the worker has had nothing to do: it has slept, or looked for work before and after that,
    /// which takes some microseconds each time.
    pub idle: Duration,
    /// The time in which the worker has taken events from the OS and fired timers, between tasks and without waiting.
    pub os: Duration,
}

impl Metrics {
    pub(crate) fn of(pool: &Pool) -> Self {
        let all: Vec<_> = pool
            .slots
            .iter()
            .map(|slot| (slot, Summary::hours(slot)))
            .map(|(slot, [busy, idle, os])| WorkerMetrics {
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
                busy,
                computing: Summary::computing(slot),
                idle,
                os,
            })
            .collect();
        let (workers, spares) = all.split_at(pool.config.workers);
        let counters =
            || pool.slots.iter().map(|slot| &slot.counters).chain(std::iter::once(&*pool.outside));
        let sum = |what: fn(&Counters) -> u64| counters().map(what).sum::<u64>();
        // Finished is read before spawned, so that a task that ends in between is not counted only as finished.
        let tasks_panicked = sum(|counters| counters.panicked.get());
        let tasks_finished = sum(|counters| counters.finished.get());
        // Those that were refused are not counted as spawned.
        let tasks_spawned = pool.spawned() + pool.outside.finished.get();
        let blocking = pool.blocking.counts();
        let summary = Summary::new(pool);
        Self {
            workers: workers.to_vec(),
            spares: spares.to_vec(),
            spares_active: pool.slots[pool.config.workers..]
                .iter()
                .filter(|slot| slot.activity.is_present())
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
            timer_wakeups: pool.poller().timers().wakes(),
            blocking_queued: blocking.queued,
            fds: pool.poller().registered(),
            task_allocations: tasks_spawned + blocking.spawned,
            poll_time: summary.poll_time(),
            wake_latency: summary.wake_latency(),
            timer_lateness: summary.timer_lateness(),
            blocking_wait: summary.blocking_wait(),
            fork_join_time: summary.fork_join_time(),
            ready_tasks: summary.ready_tasks(),
            sites: summary.sites(),
        }
    }
}
