//! Every size, limit and pause of sockets and pipes.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Chosen* means that no measurement asks for
//! a different value.

#[cfg(unix)]
use std::time::Duration;

// --- Reading ---

/// The most bytes that `read_to_end` reads before the task lets others run. More saves turns of the queue; fewer keeps
/// a fast sender from occupying a worker. Chosen. Read by `Async::read_to_end`.
pub(crate) const READ_TO_END_BYTES: u64 = 256 * 1024;

/// The number of bytes by which `read_buf` grows a full vector. More wastes memory on short messages; fewer takes more
/// reads for long ones. Chosen. Read by `read_buf`.
pub(crate) const BUFFER_GROWTH: usize = 8 * 1024;

/// The most bytes that a read into uninitialised memory requests. Every OS can read that in one call; some refuse more
/// than 2 GiB. Read by `read_buf`.
pub(crate) const READ_BYTES: usize = 1 << 30;

/// The number of buffers that every OS accepts in one call: the least that POSIX allows for `IOV_MAX`. With more, a
/// short read does not show that the socket is empty. Read by `ByteIo`.
pub(crate) const FEWEST_BUFFERS: usize = 16;

/// The number of buffers that no OS exceeds in one call. Read by `ByteIo`.
pub(crate) const MOST_BUFFERS: usize = 1024;

// --- Writing ---

/// Vectored writes of up to this many bytes are copied into one buffer. `sendmsg` costs some 130 ns more than `send`,
/// because it takes its arguments from memory; copying a head and a short body costs 10. More would take longer to copy
/// than that saves. Measured. Read by `send_vectored` of Unix.
#[cfg(unix)]
pub(crate) const COPIED_BYTES: usize = 512;

/// The first and the longest pause between two attempts to send to a local receiver that has no room. The OS does not
/// report when it has room again. Shorter burns CPU time beside a slow receiver; longer delays a datagram. Chosen. Read
/// by `UnixDatagram::send_to`.
#[cfg(unix)]
pub(crate) const DATAGRAM_PAUSES: (Duration, Duration) =
    (Duration::from_micros(50), Duration::from_millis(5));

// --- Accepting ---

/// The number of connections that can wait to be accepted; the OS may have a lower limit. More takes kernel memory;
/// with fewer, clients that come in a burst wait a second until they try again. Chosen; std and tokio have the same or
/// fewer. Read by `TcpListener::bind`.
pub(crate) const BACKLOG: u32 = 1024;
