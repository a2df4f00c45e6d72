//! Every threshold, interval and limit of the timers.
//!
//! Each says what it trades, where its value comes from, and which code reads it. *Measured* means on two cores of a
//! virtual Xeon with Linux 6.18, with the workloads of `benches/`; *chosen* means that no measurement asks for a
//! different value. The values of the scheduler and the poller are in `sched/policy.rs` of the runtime.
//!
//! On a server with many more cores, look first at [`TIMERS_PER_PASS`] and [`OUTSIDE_SHARDS`].

use std::ops::RangeInclusive;
use std::time::Duration;

// --- Firing ---

/// The number of timers that are taken out under one hold of a shard's lock. More saves locking; fewer keeps a thread
/// that arms or cancels a timer from waiting. Chosen. It is one in models, so that they see the gaps between batches.
/// Read by `FiringPass` and `Shard::close`.
pub(crate) const BATCH_TIMERS: usize = if cfg!(loom) { 1 } else { 128 };

/// The number of timers that a thread fires before it runs the tasks that they woke. More saves looks at the clock and
/// the shards; fewer lets the first of these tasks start earlier. Chosen. Read by `FiringPass`.
pub(crate) const TIMERS_PER_PASS: usize = 1024;

/// The number of batches that only move timers within their wheel before the thread runs tasks again. More finishes a
/// large slot in fewer rounds; fewer delays the tasks less. 64 batches move some 16,000 timers. Chosen. Read by
/// `FiringPass`.
pub(crate) const EMPTY_BATCHES_PER_PASS: usize = 64;

/// How long a thread may take to wake a batch before another thread takes over the shard. Shorter ends the delay behind
/// a blocking waker sooner; longer makes it less likely that a thread which was merely preempted is passed over and
/// wakes its batch out of order. Chosen, well above the few milliseconds for which a preempted thread has to wait. Read
/// by `FiringClaim`.
pub(crate) const CLAIM_EXPIRY: Duration = Duration::from_millis(100);

/// How long a thread that finds a shard claimed waits before it looks again. Shorter takes over sooner from a thread
/// that is stuck; longer saves looks in vain while the other thread fires. Chosen. Read by `Shard::recheck_later`.
pub(crate) const RECHECK: Duration = Duration::from_millis(1);

/// The number of shards, besides its own, that a worker in the middle of a computation looks at. More notices sooner
/// that the timers of others are due, who may be stuck; fewer costs less where there are many workers, because each
/// shard is a cache line that others write. Chosen, so that up to four workers look at all. Read by
/// `Timers::is_due_near`.
pub(crate) const SHARDS_PER_LOOK: usize = 8;

// --- Coalescing ---

/// Firings that follow each other within this time may be coalesced. Longer coalesces sparser timers; shorter leaves
/// more of them exact. Measured with 100,000 sleeps that end within a second, one every 10 µs. Read by `Coalescer` and
/// `LastFiring`.
pub(crate) const CLOSE_FIRINGS_APART: Duration = Duration::from_micros(100);

/// The time between two coalesced firings, and so the longest delay of a timer by coalescing. Longer saves more
/// wake-ups; shorter is more exact. Measured as above: without coalescing it took twice tokio's CPU time. Read by
/// `Coalescer` and `LastFiring`.
pub(crate) const COALESCED_FIRINGS_APART: Duration = Duration::from_micros(200);

/// The number of timers that a coalesced firing has to fire to have been worth the delay. Chosen. Read by `Coalescer`.
pub(crate) const WORTHWHILE_TIMERS: usize = 4;

/// The number of close firings in a row before the next one is coalesced. It starts at the lower bound and doubles,
/// up to the upper bound, each time that coalescing was not worth the delay. Fewer coalesces sooner; more spares a
/// single task that sleeps for a short time again and again. At these bounds, such a task is late fewer than 20 times
/// in 10,000 (a test asserts it). Read by `Coalescer`.
pub(crate) const CLOSE_FIRINGS: RangeInclusive<u32> = 8..=4096;

// --- Sharding ---

/// The number of shards for threads that are not workers. More lowers the contention between such threads; fewer makes
/// the search for the next deadline shorter, which each worker does before it sleeps. Chosen. Read by `Timers::new`.
pub(crate) const OUTSIDE_SHARDS: usize = if cfg!(loom) { 1 } else { 4 };

// --- Locking ---

/// The number of times that a thread checks a taken lock before it yields. Critical sections take some nanoseconds, so
/// this outlasts all of them, unless their thread was preempted. Chosen. Read by `Lock`.
pub(crate) const LOCK_SPINS: u32 = 100;

/// The number of times that a thread yields before it sleeps. Chosen. Read by `Lock`.
pub(crate) const LOCK_YIELDS: u32 = 10;

/// How long a thread that waits for the lock sleeps at a time. Shorter gets the lock sooner after its holder was
/// preempted; longer leaves the CPU to that holder. Chosen. Read by `Lock`.
pub(crate) const LOCK_PAUSE: Duration = Duration::from_micros(50);

// --- The wheel ---

/// The lowest level of the wheel that is used, unless a slot is crowded. A slot of level 2 is 4.096 µs long. A higher
/// level makes timers cascade less often; a lower one leaves fewer timers in a slot to be compared. Chosen. Read by
/// `Wheel`.
pub(crate) const BASE_LEVEL: u32 = 2;

/// The largest number of timers in a slot of the base level that are compared one by one. A slot with more is crowded:
/// its timers cascade down to the nanosecond, which sorts them without comparing. More costs time under the lock, and
/// stack. Chosen. Read by `Wheel`.
pub(crate) const SCANNED_TIMERS: usize = 32;

/// The number of timers that cascade under one hold of the lock. Like [`BATCH_TIMERS`], but there is less to do for
/// each timer. Chosen. Read by `Wheel::take`.
pub(crate) const CASCADED_TIMERS: usize = 256;

/// The number of entries that are allocated together, at 32 bytes each. More means fewer allocations; fewer means less
/// memory for a runtime with few timers. Chosen. Read by `Entries`.
pub(crate) const BLOCK_ENTRIES: usize = 128;

/// The number of blocks that an empty wheel keeps, 32 KiB. More saves allocations in the next burst; fewer frees
/// memory. Chosen. Read by `Entries::take_garbage`.
pub(crate) const KEPT_BLOCKS: usize = 8;
