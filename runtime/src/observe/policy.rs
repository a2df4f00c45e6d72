//! Every interval, size and limit of the observations.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Measured* means on two cores of a virtual
//! Xeon with Linux 6.18; *chosen* means that no measurement asks for a different value.

use std::time::Duration;

/// One wake-up in this many is stamped, by `WokenBy`, where wake-ups are rare. Where they are not, it is one in up to
/// 64 times as many. Fewer cost readings of the clock; more make the histograms coarser. Measured:
/// `docs/observability.md` has what observing costs. Read by `Sampling`.
pub(super) const STAMP_EVERY: [u32; 4] = [4, 4, 16, 4];

/// A worker stamps a smaller share of the wake-ups of one origin if it has made two stamps within this time. A stamp
/// costs some 0.1 µs, a fifth of a percent of this time. Shorter costs more; longer makes the histograms coarser.
/// Measured. Read by `Sampling`.
pub(super) const STAMP_TIME: Duration = Duration::from_micros(50);

/// The time that polls have to take before one of them is timed again. A poll that is timed costs two readings of the
/// clock, which are a quarter of a percent of this. Measured. Read by `Observer`.
pub(super) const TIME_EVERY: Duration = Duration::from_micros(20);

/// A poll of this length is recorded by itself. Shorter fills the flight record sooner; longer hides polls in sums.
/// Chosen. Read by `Flight`.
pub(super) const RECORDED_POLL: Duration = Duration::from_micros(50);

/// Shorter polls are recorded together, for this long at least. Longer makes the record reach further back; shorter
/// makes it finer. Chosen. Read by `Flight`.
pub(super) const RECORDED_TOGETHER: Duration = Duration::from_millis(1);

// --- The flight record ---

/// The number of events in a chunk of a ring. Chunks are allocated as they are reached, so a runtime that lives for a
/// short time has few. More means fewer allocations; fewer takes less memory. Chosen. It is one in models. Read by
/// `Ring`.
pub(super) const CHUNK_EVENTS: usize = if cfg!(loom) { 1 } else { 256 };

/// The number of chunks of a ring that records every poll: one MiB for each worker. More reaches further back. Chosen.
/// It is two in models. Read by `Ring`.
pub(super) const FULL_RING_CHUNKS: usize = if cfg!(loom) { 2 } else { 170 };

/// The number of chunks of a ring that records what takes long. More reaches further back. Chosen. It is two in models.
/// Read by `Ring`.
pub(super) const RING_CHUNKS: usize = if cfg!(loom) { 2 } else { 16 };

// --- Dumps of the flight record ---

/// The default of `FlightDumps::long_polls` and `wake_latency`. Shorter dumps what is merely long; longer misses
/// stalls. Chosen. Read by `FlightDumps`.
pub(super) const DUMP_AFTER: Duration = Duration::from_millis(100);

/// The shortest of these times. With a shorter one, the monitor would look all the time. Chosen. Read by `FlightDumps`.
pub(super) const SHORTEST_DUMP_AFTER: Duration = Duration::from_millis(1);

/// The default of `FlightDumps::every`. Longer misses dumps; shorter writes more than anybody reads. Chosen. Read by
/// `FlightDumps`.
pub(super) const DUMP_EVERY: Duration = Duration::from_secs(10);

/// The default of `FlightDumps::files`. More takes more of the disk. Chosen. Read by `FlightDumps`.
pub(super) const DUMP_FILES: usize = 16;

// --- Counts of each spawn site ---

/// The number of sites in a chunk of a worker's counts, which is allocated as a whole. More means fewer allocations;
/// fewer takes less memory in a small program. Chosen. Read by `SiteCounts`.
pub(super) const CHUNK_SITE_COUNTS: usize = 64;

/// The number of chunks of these counts. The tasks of sites beyond them count for site 0. More takes a word each.
/// Chosen. Read by `SiteCounts`.
pub(super) const SITE_COUNT_CHUNKS: usize = 64;

/// The number of sites whose counts are found with one comparison. More takes memory of each worker; fewer makes more
/// programs pay for a look into a chunk at each poll. Chosen, above the number of sites of most programs. Read by
/// `SiteCounts`.
pub(super) const NEAR_SITES: usize = 256;
