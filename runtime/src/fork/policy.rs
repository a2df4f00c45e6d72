//! Every threshold, interval and share of fork-join.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Measured* means on two cores of a virtual
//! Xeon with Linux 6.18, with the workloads of `benches/`; `docs/performance.md` has the figures. The part of its time
//! that a worker leaves to a computation is a setting, `Builder::compute_share`.
//!
//! On a server with many more cores than that, look first at [`PIECES_PER_WORKER`], because more workers come for the
//! pieces; and at [`WORTH_A_THIEF`].

use std::time::Duration;

// --- Split points ---

/// The time between two looks at the clock for which the count of joins aims. Shorter interrupts a computation sooner
/// for a task that waits; longer saves readings of the clock, of some 25 ns each. Chosen. Read by `Pace`.
pub(super) const PERIOD: Duration = Duration::from_micros(20);

/// Joins before a worker reads the clock for the first time, and the count to which [`PERIOD`] may raise it at once.
/// Above that it at most doubles, because the next joins may be slower than the last. More reads the clock later in a
/// worker's first computation; fewer sooner. Chosen. Read by `Pending` and `Pace`.
pub(super) const FIRST_COUNT: u32 = 64;

/// The most joins between two looks at the clock. No real computation has this many in a [`PERIOD`]: it bounds the
/// count where the clock stands still. Read by `Pace`.
pub(super) const MOST_JOINS: u32 = 1 << 14;

/// The number of events for which the clock is read once, even if that is not due by the count of joins. The events are
/// joins of a task that are in no other, because a task may be all small joins, none of which comes to a split point by
/// itself; and offers of a fine-grained computation, the first of which reads the clock. More saves readings; fewer
/// interrupts such a task, and wakes a thief, sooner. Chosen. Read by `Pace` and `Offering`.
pub(super) const COUNTS_PER_CLOCK: u32 = 16;

/// The number of joins for which a call of `split_here` counts, in a loop that has nothing to join for long. More reads
/// the clock more often there; fewer makes tasks wait for longer. Chosen. Read by `split_here`.
pub(super) const JOINS_PER_SPLIT: u32 = 16;

// --- Sharing joins ---

/// The number of places for pending joins that a worker begins with, one word each; it doubles when they are used up.
/// More takes memory for each worker; fewer allocates on the way down a deep recursion. Chosen. Read by `Pending`.
pub(super) const FIRST_PLACES: usize = 256;

/// Split points at the beginning of a computation that share what is pending: nothing is known about its leaves, and
/// the first may be long. It is as many as a worker passes on its way down to the first leaf. More feeds more thieves
/// at once; fewer saves pops of a deque, which cost a fence each. Read by `Pace`.
pub(super) const PROBES: u32 = 8;

/// A computation with no more joins than these in a [`PERIOD`] is coarse: what is pending may wait for long, so it is
/// shared. More shares what would be run at once; fewer keeps back what may wait for long. Chosen. Read by
/// `Pace`.
pub(super) const COARSE_JOINS: u32 = 4;

/// Split points this far apart are those of a computation with long leaves. A worker that shows none for this long,
/// while tasks wait, gets a spare. Shorter sends for spares that are not needed; longer holds tasks up. Chosen. Read by
/// `Pace` and the monitor.
pub(crate) const LONG_LEAF: Duration = Duration::from_micros(300);

/// This many split points in a row that are closer than [`LONG_LEAF`] make a computation fine-grained. Fewer would
/// mistake a pause between two leaves for that; more keep a spare that is not needed. Chosen. Read by `Pace`.
pub(super) const FINE_AFTER: u32 = 64;

/// A fine-grained computation that shows no split point is kept from running by the OS. Its worker gets a spare after
/// this many times [`LONG_LEAF`]. A larger one holds tasks up on a contended machine; a smaller one starts spares that
/// only take the CPU from the worker. Chosen. Read by the monitor.
pub(crate) const FINE_FACTOR: u32 = 16;

// --- Waking thieves ---

/// The time that a root must have run for to be worth a wake-up, which costs some 30 µs on both sides. Waking at each
/// offer is slower than no parallelism at all for a tree of 2^10 nodes. Read by `Computation`.
pub(super) const WORTH_A_THIEF: Duration = Duration::from_micros(20);

/// How long a thief watches an offer before it takes it. A job that its owner comes back to sooner costs more to steal
/// than to run. In trees of 1,023 nodes, one after another, the two workers stole crumbs from each other: 0.78 of
/// rayon's time without this (quartiles 0.69 and 0.82), 0.60 with 1 µs. In a trial with another change beside it, 2 µs
/// gained another tenth there and cost the game of life 2 %. Read by the builder.
pub(crate) const OFFER_AGE: Duration = Duration::from_micros(1);

/// A worker that takes this many of its offers back within a [`PERIOD`] brings crumbs, for which no thief is woken:
/// each of them lasts for a few microseconds, and waking takes ten times that. Fewer would keep thieves from
/// computations of 10 µs; more wakes them in vain. Trees of 1,023 nodes, one after another, took 2.89 µs each without
/// this rule, and a thief was woken 20,000 times a second; they take 1.83 µs with half the CPU time. Read by
/// `Offering`.
pub(super) const CRUMBS: u32 = 3;

// --- Tasks beside a computation ---

/// How long tasks are polled in place at a stretch. Stretches of 400, 200, 100, 60 and 30 µs had a p99 of 1.76, 1.45,
/// 1.05, 1.08 and 1.12 times that of tokio, and a rate of 1.12, 1.06, 1.12, 1.07 and 0.98. Read by
/// `Worker::poll_in_place`.
pub(super) const STRETCH: Duration = Duration::from_micros(100);

/// A worker that computes looks at the OS and the timers, at a split point, if it has not looked there for this long.
/// Longer leaves more to the computation; shorter answers sooner. Chosen. Read by `Worker::consider_polling`.
pub(super) const OS_LOOK_EVERY: Duration = Duration::from_micros(10);

/// The number of polls in place between two readings of the clock. Fewer keeps to [`STRETCH`] more exactly; more saves
/// readings. Chosen. Read by `Worker::poll_in_place`.
pub(super) const IN_PLACE_POLLS_PER_CLOCK: u32 = 4;

/// How often a computation yields to the spare that looks after tasks, which may wait for this very CPU. More often
/// answers sooner; less often leaves more to the computation. Chosen. Read by `Worker::consider_polling`.
pub(super) const LET_IN: Duration = Duration::from_micros(100);

// --- Waiting for jobs ---

/// How long a joiner, or a thief between two jobs, looks around before it sleeps. Being woken costs more. Longer takes
/// the CPU from others; shorter sleeps beside a job that is about to come. Chosen, below the cost of waking a thread.
/// Read by `Worker::may_look_around`.
pub(super) const LOOK_AROUND: Duration = Duration::from_micros(20);

/// A thread that waits looks for posted jobs last, except once in this many looks: otherwise they would wait for ever
/// beside a computation that always has something to steal. More often begins unrelated calls on top of a wait; less
/// often has them wait for longer. Chosen. Read by `Thief`.
pub(super) const STEALS_PER_POSTED: u32 = 64;

/// Turns of a spin between two looks around. More leaves the memory bus to others; fewer notices a job sooner. Chosen.
/// Read by `Worker::wait_for` and `Worker::look_around`.
pub(super) const SPINS_PER_LOOK: u32 = 16;

/// How long a worker whose tasks a spare looks after waits for its next job beside the sleepers' stack. Between 0.3 and
/// 20 ms no difference could be measured. Read by the builder.
pub(crate) const NEXT_JOB: Duration = Duration::from_millis(1);

/// How often such a worker checks whether its spare makes progress. With the monitor alone to call the worker, a task
/// behind one that blocks for 8 ms waited 2.3 ms at the median; with this, 0.65 ms. Read by `Worker::await_job`.
pub(super) const GLANCE: Duration = Duration::from_micros(200);

// --- The end of a pool ---

/// How many posted jobs run on top of each other on a thread that runs them in the place of a pool that closes. More
/// has jobs that wait for what they have posted, by means of their own, wait for deeper chains; fewer takes less of the
/// stack. Chosen; one in models, where few
/// jobs post others. Read by `Pool::is_kept`.
pub(super) const LEFTOVER_LEVELS: u32 = if cfg!(loom) { 1 } else { 32 };

// --- Dividing slices ---

/// Pieces into which work is divided for each worker. More even out differences in the cost of pieces; fewer save
/// joins. Chosen. Read by `Splitter` and the sort.
pub(super) const PIECES_PER_WORKER: usize = 8;

/// Items that are always worth a join: it costs a few nanoseconds, and is where a computation can be interrupted. More
/// saves joins; fewer interrupts a computation sooner. Chosen. Read by `Splitter`.
pub(super) const MANY_ITEMS: usize = 2048;

/// The shortest and the longest piece that is left to `std`'s sort. It is faster with longer ones, but has no split
/// points. Chosen. Read by the sort.
pub(super) const SORT_PIECE: (usize, usize) = (4096, 8192);

/// Items that are partitioned between two split points. The first partition of ten million items takes some 12 ms, for
/// which tasks would have to wait for a spare. Read by the sort.
pub(super) const PARTITION_BLOCK: usize = 2048;

/// A computation that took at least this long is worth a second worker from its first join on, the next time. It trades
/// a wake-up in vain against a second half that starts late. Joins of two halves of 100 or 200 µs, half a millisecond
/// apart, took 244 and 437 µs without it and take 170 and 277 µs. Halves of 40 µs, and those that are 5 ms apart, gain
/// nothing and lose a twentieth. Read by `Forecast`.
pub(super) const LONG_LAST_TIME: Duration = Duration::from_micros(100);
