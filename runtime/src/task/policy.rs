//! Every limit and size of tasks and of their tables.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Chosen* means that no measurement asks
//! for a different value.

// --- The list of all tasks ---

/// The number of shards of each worker, used in turn. Tasks end in about the order in which they began, so a worker
/// that ends stolen tasks rarely contends with the one that spawns more. More takes memory, and time for each listing.
/// Chosen. It is one in models. Read by `OwnedTasks`.
pub(super) const TASK_SHARDS: usize = if cfg!(loom) { 1 } else { 4 };

/// The number of shards for threads that are not workers of the runtime. More lowers the contention between them.
/// Chosen. It is one in models. Read by `OwnedTasks`.
pub(super) const FOREIGN_TASK_SHARDS: usize = if cfg!(loom) { 1 } else { 8 };

/// The number of tasks that are visited under one hold of a shard's lock. More saves locking; fewer holds up a thread
/// that spawns. Chosen. It is one in models. Read by `OwnedTasks`, and for the queue of the blocking pool.
pub(crate) const VISITED_TASKS: usize = if cfg!(loom) { 1 } else { 64 };

// --- The table of spawn sites ---

/// The number of sites in a chunk of the table, which is allocated as a whole. More means fewer allocations; fewer
/// takes less memory in a small program. Chosen. Read by the table of sites.
pub(super) const CHUNK_SITES: usize = 64;

/// The number of chunks of the table. Sites beyond these count as site 0. More takes a word each. Chosen, well above
/// the number of places in which a program spawns. Read by the table of sites.
pub(super) const SITE_CHUNKS: usize = 512;

/// The number of sites of one place that have a name. Further names count only for their place, because a name may be
/// different for each task: that of a connection's peer, for example. Chosen. Read by the table of sites.
pub(super) const SITE_NAMES: usize = 64;

/// The number of sites that a thread remembers. More takes memory of each thread; fewer asks the table, behind a lock,
/// more often. Chosen. Read by the table of sites.
pub(super) const REMEMBERED_SITES: usize = 64;

// --- Spawning ---

/// Futures larger than this, in bytes, are boxed before they are passed on. In a build without optimisation, each
/// function that they pass through has a copy on its stack. Larger takes more stack; smaller allocates more often.
/// Chosen. Read by `boxed_if_large`.
pub(crate) const LARGE_FUTURE: usize = if cfg!(debug_assertions) { 2 << 10 } else { 16 << 10 };

/// The number of ids that a thread takes at a time. More leaves larger gaps; with fewer, threads that spawn share a
/// cache line more often. Chosen. Read by `Id`.
pub(super) const IDS_AT_A_TIME: u64 = 1024;
