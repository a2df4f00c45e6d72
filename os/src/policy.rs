//! Every size and limit of files, directories and streams.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Chosen* means that no measurement asks for
//! a different value.

// --- Files ---

/// The most bytes that a worker itself copies from the OS's memory; a thread of the blocking pool reads more. More
/// saves hops to the blocking pool; fewer occupies the worker for less time. Chosen. Read by `File`.
pub(crate) const COPIED_AT_ONCE: usize = 128 * 1024;

/// The most bytes that the poll functions of files and standard streams pass on in one call, and the largest buffer
/// that they keep. More saves hops to the blocking pool; fewer takes less memory for each file. Chosen; tokio has the
/// same. Read by `Buffered`.
pub(crate) const PASSED_ON: usize = 2 * 1024 * 1024;

/// The number of entries of a directory that are read in one hop to the blocking pool. More saves hops; fewer reads
/// ahead less. Chosen. Read by `ReadDir`.
pub(crate) const DIR_ENTRIES: usize = 64;

// --- Copying ---

/// The default for the largest size of a copy's buffer. More saves system calls on fast streams; fewer takes less
/// memory for each direction. Chosen. Read by `copy` and `Bidirectional`.
pub(crate) const COPY_BUFFER: usize = 64 * 1024;

/// The initial size of a buffer, unless its largest size is smaller. More saves reads for streams that are fast from
/// the start; fewer takes less memory for those that are mostly idle. Chosen. Read by `Transfer`.
pub(crate) const FIRST_COPY_BUFFER: usize = 8 * 1024;

/// The number of rounds of reading and writing in one poll, for streams that count against no budget. More saves turns
/// of the queue; fewer lets other tasks run sooner. Chosen. Read by `Transfer`.
pub(crate) const COPY_ROUNDS: u32 = 64;
