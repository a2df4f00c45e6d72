//! Every threshold, interval and share of the scheduler and the poller.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Measured* means on two cores of a virtual
//! Xeon with Linux 6.18, with the workloads of `benches/`; *chosen* means that no measurement asks for a different
//! value. The values of fork-join, tasks, observations and reports are in the `policy.rs` of `fork/`, `task/`,
//! `observe/` and `stuck/`, those of the timers and of `sync` in the `policy.rs` of these crates.
//!
//! On a server with many more cores than that, look first at [`ROUND`], because more workers share one queue of events;
//! and at [`searchers`].

use std::time::Duration;

use super::trial::TrialPlan;
use crate::fork::policy::LONG_LEAF;

/// True if no time passes. That is so in models, which must not depend on how fast the machine is. Every wait is over
/// at once there, no poll or computation takes long, and one that is over has ended just now.
pub(crate) const TIMELESS: bool = cfg!(loom);

/// A moving average is made up of this many parts, of which the latest measurement is one. More is steadier; fewer
/// follows a change of the load sooner. Chosen. Read by `Pacing` for the time of a poll, by `Trial` for the figure that
/// a trial compares, and by `CpuShare` for the wait for a CPU.
pub(crate) const AVERAGE_PARTS: u64 = 4;

// --- Running tasks ---

/// The number of tasks taken from the LIFO slot in a row before the queue gets its turn. More is faster for two tasks
/// that wake each other; fewer is fairer to the rest. tokio takes the same number. Read by `Worker::next`.
pub(crate) const LIFO_RUNS: u32 = 3;

/// The largest number of polls between two readings of the clock, which costs some 25 ns. Polls that are longer than
/// [`LOOK_INTERVAL`] divided by this are counted in smaller steps. More saves readings; fewer lets a worker with uneven
/// polls look out in time. Chosen. Read by `Pacing`.
pub(crate) const POLLS_PER_CLOCK: u32 = 16;

/// The largest number of polls between two readings of the clock while the shared queues hold more than the worker has
/// just taken. More saves looks; fewer lets tasks from outside advance beside those of the worker. Chosen. Read by
/// `Pacing`.
pub(crate) const POLLS_PER_SHARED_BATCH: u32 = POLLS_PER_CLOCK * 16;

/// The largest number of tasks that a busy worker takes from the injector at a time, beyond a first batch. More lets
/// many spawned tasks advance faster beside long polls; fewer lets the worker's own tasks wait for less time. tokio
/// takes the same number. Read by `Worker::take_more_shared`.
pub(crate) const SHARED_BATCH: usize = 128;

/// The average time of a poll before any has been measured. Too long a guess wakes a second worker for nothing; too
/// short a guess delays it by one measurement. Chosen. Read by `Counters::new`.
pub(crate) const FIRST_POLL_TIME: Duration = Duration::from_micros(1);

/// How long a busy worker runs its own tasks before it looks at the shared queues and the timers. Shorter is fairer to
/// what comes from outside; longer saves looks that mostly find nothing. Spawning from outside onto busy workers does
/// not change measurably between 20 and 100 µs. Read by `Pacing`.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_micros(50);

/// The longest time between two looks of a busy worker at the OS. Within it, events gather, which saves system calls on
/// both sides: a fixed interval of 50 µs cost a few percent of the CPU time of echo on 64 connections and most of its
/// p99.9. Read by `Round`.
pub(crate) const ROUND: Duration = Duration::from_micros(300);

/// A worker whose polls take this long, on average, takes single tasks from the shared queues instead of batches, which
/// would wait behind each other. Longer has more tasks wait behind such a worker; shorter takes single tasks where a
/// batch would do. Chosen: with polls of [`LOOK_INTERVAL`], a batch waits for many looks. Read by `Pacing`.
pub(crate) const LONG_AVERAGE_POLL: Duration = LOOK_INTERVAL;

/// The number of slots at which a worker looks, in the middle of a computation, for tasks that their workers are kept
/// from; and an outside thread, after a push, for workers that may be busy for long. More notices them sooner; fewer costs less where there are many workers, because each slot costs a fence, and
/// cache lines that others write. Chosen. Read by `Pool::slots_near`.
pub(crate) const SLOTS_PER_GLANCE: usize = 8;

/// The number of tasks in the shared queues between two looks at all workers, which are busy, whether one of them may be
/// busy for long. In between, each push looks at [`SLOTS_PER_GLANCE`] of them. More saves the outside thread that pushes
/// such looks; fewer has the monitor come sooner, where there are more workers than that, for a computation that has
/// begun while tasks waited. The first task that waits is worth a look at all. Chosen. Read by `Pool::turn_after_push`.
pub(crate) const PUSHES_PER_SCAN: usize = 16;

// --- Waking a second worker ---

/// The cost of waking a parked thread. A backlog that takes longer than this is worth a second worker; a shorter one is
/// done before that worker is up. 27 to 40 µs were measured. Read by `Worker::consider_waking`.
pub(crate) const WAKE_COST: Duration = Duration::from_micros(30);

/// How long a smaller backlog has to last to be worth a second worker. Longer leaves a CPU idle beside a queue; shorter
/// wakes a worker for a queue that is about to end. Chosen. Read by `Worker::consider_waking`.
pub(crate) const LASTING_BACKLOG: Duration = Duration::from_micros(200);

/// Backlogs shorter than this are ignored: the time of [`LASTING_BACKLOG`] starts again. Longer keeps a second
/// worker asleep beside a short queue; shorter wakes it for queues that are empty every now and then. Chosen. Read by
/// `Pacing`.
pub(crate) const NO_BACKLOG: Duration = WAKE_COST.checked_div(8).unwrap();

/// The largest number of pushes onto a worker's own queue before it considers waking a second worker. With longer polls
/// it is fewer: as many as make up [`WAKE_COST`]. More checks less often; fewer notices a backlog sooner. Chosen. Read
/// by `Worker::push`.
pub(crate) const PUSHES_PER_THOUGHT: u32 = 64;

/// How a second worker is tried. Samples of the rate of polls are [`SAMPLE_EVERY`] apart. A trial of six samples is 12
/// ms, so that one stall of the machine does not decide it, and trials take less than 2 % of the time. Several workers
/// are worth having if together they poll 97 % or more of what one polls alone. They are also worth having where it
/// makes no difference: then there is CPU time to spare, and what arrives together is done at the same time. Read by
/// `Choices`.
pub(super) const SHARING_TRIALS: TrialPlan = TrialPlan { samples: 6, every: (24, 384), pays: 97 };

/// One worker is not tried for a backlog while all threads together use more than this percentage of a CPU, and none
/// computes: it could not do the same work. A lower percentage misses loads that one worker serves cheaper, which take
/// less than a CPU; a higher one tries in vain, with all requests waiting meanwhile. With 125, the p99 of a pipeline of
/// tasks was up to 2.5 of tokio's in rounds in which it was at most 0.8 with 105. Read by `Choices`.
pub(super) const BEYOND_ONE_CPU: u64 = 105;

/// A sample of the rate of polls that took longer than this is not used: the runtime slept meanwhile. Longer counts
/// naps as slow work; shorter drops samples of long polls. Chosen. Read by `Choices`.
pub(crate) const LONGEST_SAMPLE: Duration = SAMPLE_EVERY.saturating_mul(4);

/// What trials have shown is forgotten after this time without a sample: the load is another one. Longer keeps results
/// that may be out of date, for bursts that are too short to be measured; shorter forgets the results of a load that
/// pauses. Chosen. Read by `Choices`.
pub(crate) const FORGET_AFTER: Duration = Duration::from_secs(1);

/// A queue that its owner will have emptied within this time is not worth stealing from, as long as the owner makes
/// progress: the thief would pay more in cache misses than it gains. Chosen. Read by `steal::weigh_backlog`.
pub(crate) const SMALL_BACKLOG: Duration = Duration::from_micros(5);

/// The number of turns of a spin, some microseconds, for which a thief watches whether the owner makes progress. Longer
/// finds more owners to be running, and spares their queues; shorter gets at a stalled one's tasks sooner. Chosen. It
/// is none in models, where every owner is taken to be stalled. Read by `steal::Watch`.
pub(crate) const THIEF_SPINS: u32 = if cfg!(loom) { 0 } else { 128 };

/// The number of owners that a thief watches together. While it watches, it counts as one that searches, and nobody is
/// woken for what comes. More gets past many short queues sooner; fewer reads less between two turns of the spin.
/// Chosen: with 64 workers a search watches eight times, and not 63 times. Read by `steal::Watch`.
pub(crate) const WATCHED_TOGETHER: usize = 8;

/// Returns the number of workers that may search for work at a time of their own accord. Searchers find the same work
/// and contend for it; tokio allows half of its workers too. Read by the builder.
pub(crate) fn searchers(workers: usize) -> usize {
    (workers / 2).max(1)
}

// --- Falling asleep ---

/// The longest spin before a worker sleeps. It is worth waiting for as long as waking costs, because that is what the
/// worker saves if work comes. Longer takes the CPU from others in vain; shorter meets less work. Chosen, above
/// [`WAKE_COST`]. Read by `Spin`.
pub(crate) const LONGEST_SPIN: Duration = Duration::from_micros(50);

/// A sleep that was over sooner than this would have been better spent awake. It is the time of [`LONGEST_SPIN`] and a
/// wake-up. Longer spins more often in vain. Chosen. Read by `Spin`.
pub(crate) const SHORT_SLEEP: Duration = Duration::from_micros(80);

/// The number of turns of a spin between two checks whether there is work. More leaves the memory bus to others; fewer
/// notices work sooner. A turn is a `pause` instruction of some 10 to 40 ns. Chosen. Read by `Spin`.
pub(crate) const SPINS_PER_CHECK: u32 = 8;

/// The number of checks of a spin between two readings of the clock. More saves readings; fewer keeps to
/// [`LONGEST_SPIN`] more exactly. Chosen. Read by `Spin`.
pub(crate) const CHECKS_PER_CLOCK: u32 = 16;

/// A step of the spin that takes longer than this was interrupted: another thread wants the CPU. Longer misses
/// interruptions; shorter mistakes a busy hypervisor for one. Chosen. Read by `Spin`.
pub(crate) const INTERRUPTED: Duration = Duration::from_micros(200);

/// Bounds of the experience with spinning, in spins that paid minus spins in vain. Spinning is on while it is positive;
/// an interruption sets it to the lower bound. Wider bounds are slower to follow a change of the load. Chosen. Read by
/// `Spin`.
pub(crate) const SPIN_SCORE: std::ops::RangeInclusive<i32> = -8..=4;

/// How spinning is tried. Samples of CPU time are [`SAMPLE_EVERY`] apart; two in 256 are less than one in a hundred, so
/// that trials don't show in the p99. Spinning stays on if a poll costs at most 1.1 times as much with it: an answer
/// that comes sooner is worth something. Read by `Choices`.
pub(super) const SPIN_TRIALS: TrialPlan = TrialPlan { samples: 2, every: (8, 256), pays: 91 };

/// The smallest number of polls that makes a sample. More is more exact, and takes longer with long polls. Chosen. Read
/// by `Choices`.
pub(crate) const TRIAL_POLLS: u64 = 16;

/// A trial is over early if the way that is tried is worth less than this percentage of the other, after
/// [`FAILED_SAMPLES`] or more. A lower percentage takes longer to give up what is clearly worse: with 20 µs of computing
/// for each message, one worker does 0.55 of what two do, and trials of the whole length cost 4 % of the first half
/// second. A higher one gives up by chance. Read by `Trial`.
pub(super) const FAILED: u64 = 80;

/// The smallest number of samples that a trial takes, so that one stall of the machine does not end it. Chosen. Read by
/// `Trial`.
pub(super) const FAILED_SAMPLES: u32 = 2;

// --- Contention for the CPUs ---

/// The time after which a worker asks the OS again how long it has waited for a CPU, which takes about a microsecond.
/// More often follows the load sooner; less often costs less. Chosen. Read by `Contention`.
pub(crate) const SAMPLE_EVERY: Duration = Duration::from_millis(2);

/// A sample in which the thread ran and waited for less than this is not used. Longer needs a busier worker; shorter
/// mistakes chance for contention. Chosen. Read by `Contention`.
pub(crate) const SAMPLE_AT_LEAST: Duration = Duration::from_micros(100);

/// The CPUs are contended if a worker that is alone waits for one for more than this percentage of the time. With one
/// load process 0 to 8 % were measured, with two load processes or one neighbour 30 to 60 %. Read by `CpuShare`.
pub(crate) const CONTENDED_ABOVE: u64 = 20;

// --- The monitor ---

/// The shortest and the longest time between two looks of the monitor, while workers make progress. The first is for
/// workers that have just woken up; each look that finds nothing to do doubles the time. The longest is half of
/// `stuck_after` if that is less. Shorter notices a stalled worker sooner; longer wakes the thread less often. Chosen.
/// Read by `Monitor`.
pub(crate) const MONITOR_PAUSE: (Duration, Duration) =
    (Duration::from_micros(100), Duration::from_millis(5));

/// The monitor looks this often while a computation may need a spare soon: half of the time after which the computation
/// gets one. Shorter costs the CPU of the computation; longer starts the spare later. Chosen. Read by `Monitor`.
pub(crate) const CLOSE_PAUSE: Duration = LONG_LEAF.checked_div(2).unwrap();

/// A hurried monitor starts again from the shortest pause if its pause has grown beyond this. Longer lets a hurry wait;
/// shorter keeps the monitor looking often under a steady stream of them. Chosen. Read by `Monitor`.
pub(crate) const HURRIED_ABOVE: Duration = MONITOR_PAUSE.0.saturating_mul(8);

/// The longest time between two looks while every worker that is awake stands still and nothing waits for it. This
/// bounds how late anything can be if a worker goes on and gets stuck again. Longer costs an idle program less. Chosen.
/// Read by `Monitor`.
pub(crate) const MONITOR_REST: Duration = Duration::from_millis(100);

/// A look that is late by more than this says nothing about the time in between: the machine, or the whole process,
/// stood still. Shorter mistakes a monitor that waits for a CPU for that, and helps later; longer mistakes a machine
/// that stood still for workers that are stuck. Chosen, above what a thread waits for a CPU. Read by `Standstill`.
pub(crate) const STOOD_STILL: Duration = Duration::from_millis(500);

/// A worker outside of a poll is not considered stalled until this has passed, because it may be searching. Longer
/// notices later that the OS keeps it from running; shorter wakes sleepers for nothing. Chosen. Read by `Monitor`.
pub(crate) const LONGEST_SEARCH: Duration = Duration::from_millis(1);

/// How long the poller's thread leaves a timer that is due to the workers that are awake. Longer fires it later if all
/// of them are stalled; shorter fires timers on a thread that then has to wake a worker. Chosen. Read by the poller's
/// thread.
pub(crate) const TIMER_LAG: Duration = Duration::from_micros(500);

/// How long the spare that has looked after tasks during a computation stays after its end. Longer saves starting it
/// again for the next computation; shorter frees its thread. Chosen. Read by `Worker::end_relief`.
pub(crate) const SPARE_LINGERS: Duration = Duration::from_millis(20);

// --- The poller ---

/// The largest number of threads that call wakers beside those of the blocking pool, which are all busy then. More keeps
/// wakers going behind more of them that block; fewer bounds what a program that goes wrong costs. Chosen. Read by the
/// poller's thread.
pub(crate) const WAKER_THREADS: usize = 8;

/// The longest time between two looks of the poller's thread while it has left wakers or timers that no thread has come
/// for. Shorter uses a CPU while wakers block wherever they are called; longer delays what comes meanwhile. Chosen. Read
/// by the poller's thread.
pub(crate) const LEFT_PAUSE: Duration = Duration::from_millis(1);

/// The time between two attempts to wait on an OS that refuses. Shorter uses a CPU on an instance that is broken for
/// good; longer delays the monitor on the poller's thread. Chosen. Read by `Seat::wait`.
pub(crate) const BROKEN_OS_PAUSE: Duration = Duration::from_millis(1);

/// The shortest and the longest time between two checks whether a runtime in virtual time is idle; it doubles with each
/// check in vain. Shorter jumps sooner; longer uses less CPU time while a test computes. Chosen. Read by `Idleness`, and the
/// longest by a manual loop, `Loop`, for its checks of other threads.
pub(crate) const IDLE_CHECK_PAUSE: (Duration, Duration) =
    (Duration::from_micros(50), Duration::from_millis(1));

/// How long a runtime in virtual time that has sources of I/O has to be idle before time jumps. Longer makes tests
/// slower; shorter jumps over an event of loopback that is under way. Chosen. Read by `Idleness`.
pub(crate) const SETTLED: Duration = Duration::from_millis(5);

/// How long moving the virtual time waits for another thread that is firing timers. It ends a wait for a waker that
/// blocks. Chosen. Read by the virtual clock.
pub(crate) const LONGEST_FIRING: Duration = Duration::from_secs(1);

// --- Settings: their defaults and bounds ---

/// The largest number of workers. The sleepers' word limits it, and it is more than servers have CPUs. Read by the
/// builder.
pub(crate) const MAX_WORKERS: usize = 1024;

/// The smallest and the largest number of slots for guests; it is otherwise the number of workers. More lets more
/// threads take part in their own calls; fewer saves looks of thieves and memory. Chosen; the upper bound is that of
/// the guests' word. Read by the builder and `Guests`.
pub(crate) const GUESTS: (usize, usize) = (4, 32);

/// The bounds of the default number of spare workers, which is otherwise the number of workers. More copes with more
/// tasks that block at the same time; each spare is a slot for thieves to look at, and a thread while it is needed.
/// Chosen. Read by the builder.
pub(crate) const SPARES: (usize, usize) = (4, 64);

/// The smallest and the largest stack, in bytes. A smaller one has no room for Rust's own start of a thread in a debug
/// build; a larger one is a mistake. Read by the builder.
pub(crate) const STACK_BYTES: (usize, usize) = (64 << 10, 1 << 40);

/// The default of `stuck_after`. Longer leaves tasks waiting behind one that blocks; shorter starts spares for polls
/// that are merely long. Chosen, above the time slices of Linux. Read by the builder.
pub(crate) const STUCK_AFTER: Duration = Duration::from_millis(10);

/// The shortest `stuck_after`. With a shorter one, monitoring would cost more than it saves. It is the shortest pause of
/// the monitor. Read by the builder.
pub(crate) const MIN_STUCK_AFTER: Duration = MONITOR_PAUSE.0;

/// The default of `max_blocking`, in threads. The same as tokio's. Read by the builder.
pub(crate) const MAX_BLOCKING: usize = 512;

/// The default of `blocking_keep_alive`. Longer saves starting threads again; shorter frees their stacks. The same as
/// tokio's. Read by the builder.
pub(crate) const BLOCKING_KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The default of `compute_share`, in percent of a worker's time. Beside the parallel sort, 17, 20 and 25 % had an echo
/// rate of 1.11, 1.09 and 1.03 times that of tokio, at 0.97, 1.02 and 1.06 of rayon's sorting. Read by the builder.
pub(crate) const COMPUTE_SHARE: u32 = 20;

/// How long a shutdown waits for a thread to begin that it has started for code of the program. After that it calls the
/// code itself, and may be held up by it. Longer delays a shutdown on Windows in which no thread can begin; shorter calls
/// code that may block where the machine is merely busy. Chosen. Read by `shutdown`.
pub(crate) const BEGINS_WITHIN: Duration = Duration::from_millis(100);

/// How long dropping a runtime waits for code that can't be cancelled. Longer lets more of it end; shorter returns
/// earlier in spite of a task that never yields. Chosen. Read by
/// `shutdown`.
pub(crate) const DROP_DEADLINE: Duration = Duration::from_secs(5);
