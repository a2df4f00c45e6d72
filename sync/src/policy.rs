//! Every threshold of this crate.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Measured* means on two
//! cores of a virtual Xeon with Linux 6.18, with the workloads of `benches/`; *chosen* means that no
//! measurement asks for a different value.

/// The number of operations that a task may complete in one poll. More saves trips through the worker's queue; fewer is
/// fairer to other tasks. The same as tokio's budget. Read by `budget`.
pub(crate) const BUDGET: u64 = 128;

/// The cost of an operation that has called the OS, in operations. A connection whose client answers at once keeps its
/// worker for `BUDGET / IO_COST` operations, and all others wait: with 20 µs of computing for each message that is 2.7
/// ms at a cost of 1, 0.3 ms at 8 and 0.15 ms at 16. The price is one trip through the worker's queue, less than 0.1
/// µs, for every `BUDGET / IO_COST` calls of the OS. Measured. Read by `budget`.
pub(crate) const IO_COST: u64 = 16;

/// The number of wakers of a batch that need no allocation. More takes room on the stack of each thread that releases
/// waiters; fewer allocates more often. Chosen; the same as tokio's. Read by `WakeBatch`.
pub(crate) const INLINE_WAKERS: usize = 32;
