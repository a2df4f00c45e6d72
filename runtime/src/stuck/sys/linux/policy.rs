//! Every size and time of taking another thread's stack.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Chosen* means that no measurement asks for
//! a different value.

use std::time::Duration;

/// The largest part of a stack that is copied, in bytes. More takes static memory; less cuts deep stacks. Chosen: a
/// hundred frames of a build without optimisation. Read by `Sample`.
pub(super) const COPIED_STACK: usize = 256 << 10;

/// The size of the pieces in which the kernel copies it, in bytes: it stops at the first that is not mapped. The size
/// of a page. Read by the signal handler.
pub(super) const COPIED_PIECE: usize = 4 << 10;

/// How long a thread may take to answer. Longer delays the report of a thread that sleeps in the kernel without being
/// interruptible, and so does not answer; shorter loses the stacks of threads that wait for a CPU. Chosen. Read by
/// `sample`.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// The time between two checks whether the thread has answered. Shorter costs CPU time; longer delays the report.
/// Chosen. Read by `sample`.
pub(super) const ANSWER_LOOK: Duration = Duration::from_micros(200);

/// How long the names of functions are remembered. Longer saves finding them again, but later another library may be at
/// the address. Chosen. Read by `name_frames`.
pub(super) const NAMES_KEPT: Duration = Duration::from_secs(1);
