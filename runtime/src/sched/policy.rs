//! Every threshold, interval and share of the scheduler and the poller.
//!
//! Each says what it trades, where its value comes from, and who reads it. *Measured* means on two cores of a virtual
//! Xeon with Linux 6.18, with the workloads of `benches/`. Those of fork-join are in
//! `fork/policy.rs`, those of the timers in `windlass_timer`'s `policy.rs`.
//!
//! On a server with many more cores than that, the ones to look at first are [`ROUND`], because more workers share one
//! queue of events; and [`searchers`].

use std::time::Duration;

use super::trial::Schedule;

// --- Running tasks ---

/// Tasks taken from the LIFO slot in a row before the queue gets its turn. More is faster for two tasks that wake each
/// other; fewer is fairer to the rest. tokio takes the same number. Read by `Worker::next`.
pub(crate) const LIFO_RUNS: u32 = 3;

/// The largest number of polls between two readings of the clock, which costs some 25 ns. Polls that are longer than
/// [`LOOK_OUT`] divided by this are counted in smaller steps. Read by `Pacing`.
pub(crate) const POLLS_PER_CLOCK: u32 = 16;

/// How long a busy worker runs its own tasks before it looks at the shared queues and the timers. Shorter is fairer to
/// what comes from outside; longer saves looks that mostly find nothing. Spawning from outside onto busy workers does
/// not change measurably between 20 and 100 µs. Read by `Pacing`.
pub(crate) const LOOK_OUT: Duration = Duration::from_micros(50);

/// The longest time between two looks of a busy worker at the OS. Within it, events gather, which saves system calls on
/// both sides: a fixed interval of 50 µs cost a few percent of the CPU time of echo on 64 connections and most of its
/// p99.9. Read by `Round`.
pub(crate) const ROUND: Duration = Duration::from_micros(300);

/// A worker whose polls take this long, on average, takes single tasks from the shared queues instead of batches, which
/// would wait behind each other. Read by `Pacing`.
pub(crate) const LONG_POLL: Duration = Duration::from_micros(50);

// --- Waking a second worker ---

/// What it costs to wake a parked thread. A backlog that takes longer than this is worth a second worker; a shorter one
/// is done before that one is up. 27 to 40 µs were measured. Read by `Worker::consider_waking`.
pub(crate) const WAKE_COST: Duration = Duration::from_micros(30);

/// How long a smaller backlog has to last to be worth a second worker. Read by `Worker::consider_waking`.
pub(crate) const LASTING_BACKLOG: Duration = Duration::from_micros(200);

/// The largest number of pushes onto a worker's own queue between two thoughts about a second worker. It is fewer with
/// longer polls: as many as make up [`WAKE_COST`]. Read by `Worker::push`.
pub(crate) const PUSHES_PER_THOUGHT: u32 = 64;

/// How a second worker is tried. Samples of the rate of polls are [`SAMPLE_EVERY`] apart. A trial of six samples is 12 ms, so
/// that one stall of the machine does not decide it, and trials take less than 2 % of the time. Read by `Sharing`.
pub(super) const SHARING_TRIALS: Schedule = Schedule { samples: 6, every: (24, 384) };

/// Several workers are worth having if together they poll this percentage, or more, of what one polls alone. Where it makes
/// no difference they are: then there is CPU time to spare, and what comes at once is done at once. Read by `Sharing`.
pub(crate) const SHARING_PAYS: u64 = 97;

/// A queue that its owner will have emptied within this time is not worth stealing from, as long as the owner makes
/// progress: the thief would pay more in cache misses than it gains. Read by `Worker::take_from_backlog`.
pub(crate) const SMALL_BACKLOG: Duration = Duration::from_micros(5);

/// Turns of a spin, some microseconds, for which a thief watches whether the owner makes progress. Read by
/// `Slot::makes_progress_soon`.
pub(crate) const THIEF_SPINS: u32 = if cfg!(loom) { 0 } else { 128 };

/// Returns the number of workers that may search for work at a time of their own accord. Searchers find the same work
/// and contend for it; tokio has the same half.
pub(crate) fn searchers(workers: usize) -> usize {
    (workers / 2).max(1)
}

// --- Falling asleep ---

/// The longest spin before a worker sleeps. It is worth while to wait as long as waking costs, which is what a worker
/// saves if it is right. Read by `Spin`.
pub(crate) const LONGEST_SPIN: Duration = Duration::from_micros(50);

/// A sleep that was over sooner than this would have been better spent awake. Read by `Spin`.
pub(crate) const SHORT_SLEEP: Duration = Duration::from_micros(80);

/// A step of the spin that takes longer than this was interrupted: somebody else wants the CPU. Read by `Spin`.
pub(crate) const INTERRUPTED: Duration = Duration::from_micros(200);

/// Bounds of the experience with spinning, in spins that paid minus spins in vain. Spinning is on while it is positive;
/// an interruption sets it to the lower bound. Read by `Spin`.
pub(crate) const SPIN_SCORE: std::ops::RangeInclusive<i32> = -8..=4;

/// What a poll may cost more in CPU time with spinning than without it, in percent: an answer that comes sooner is worth
/// something. Read by `Spin`.
pub(crate) const SPIN_PREMIUM: u64 = 110;

/// How spinning is tried. Samples of CPU time are [`SAMPLE_EVERY`] apart; two in 256 are less than one in a hundred, so that
/// trials don't show in the p99. Read by `Spin`.
pub(super) const SPIN_TRIALS: Schedule = Schedule { samples: 2, every: (8, 256) };

/// The smallest number of polls that makes a sample. Read by `Spin` and `Sharing`.
pub(crate) const TRIAL_POLLS: u64 = 16;

// --- Contention for the CPUs ---

/// The time between two questions of a worker to the OS how long it has waited for a CPU; each takes about a
/// microsecond. Read by `Contention`.
pub(crate) const SAMPLE_EVERY: Duration = Duration::from_millis(2);

/// Time in which a thread ran or waited, within a sample, below which it says nothing. Read by `Contention`.
pub(crate) const SAMPLE_AT_LEAST: Duration = Duration::from_micros(100);

/// A new sample counts as this part of the average. Larger is steadier, smaller is sooner. Read by `CpuShare`.
pub(crate) const SAMPLE_WEIGHT: u64 = 4;

/// The CPUs are contended if a worker that is alone waits for one for more than this percentage of the time. With one
/// load process 0 to 8 % were measured, with two load processes or one neighbour 30 to 60 %. Read by `CpuShare`.
pub(crate) const CONTENDED_ABOVE: u64 = 20;

// --- The monitor ---

/// The shortest and the longest time between two looks of the monitor, while workers make progress. The first is for
/// workers that have just woken up; each look that finds nothing to do doubles the time. Half of `stuck_after` is the
/// longest if that is less. Read by `Monitor`.
pub(crate) const MONITOR_PAUSE: (Duration, Duration) =
    (Duration::from_micros(100), Duration::from_millis(5));

/// The longest time between two looks while every worker that is awake stands still and nothing waits for it. This
/// bounds how late anything can be if a worker goes on and gets stuck again. Read by `Monitor`.
pub(crate) const MONITOR_REST: Duration = Duration::from_millis(100);

/// A worker outside of a poll is not taken for stalled before this: it may be searching. Read by `Monitor`.
pub(crate) const LONGEST_SEARCH: Duration = Duration::from_millis(1);

/// How long the poller's thread leaves a timer that is due to the workers that are awake. Read by the poller's thread.
pub(crate) const TIMER_LAG: Duration = Duration::from_micros(500);

/// How long after a computation the spare stays that has looked after tasks meanwhile. Read by `Worker::end_relief`.
pub(crate) const SPARE_LINGERS: Duration = Duration::from_millis(20);
