//! Every threshold and limit of the backends. Each backend reads those of its own section.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Chosen* means that no measurement asks for
//! a different value.

// The other sections.
#![allow(dead_code)]

use std::time::Duration;

// --- epoll ---

/// The largest number of events that one wait takes. More saves system calls where thousands of sockets are ready;
/// fewer takes less memory, and lets others run sooner. Chosen. Read by `Events`.
pub(super) const EPOLL_EVENTS: usize = 256;

/// The time slice that threads which compute outside the pool ask for, which is the shortest that the kernel grants. A
/// longer one makes a worker wait for its CPU behind such a thread. Read by `take_short_slices`.
pub(super) const SHORT_SLICE: Duration = Duration::from_micros(100);

// --- kqueue ---

/// Like [`EPOLL_EVENTS`], but a source has one event for each direction. Chosen. Read by `Events`.
pub(super) const KQUEUE_EVENTS: usize = 512;

/// The longest time between two looks at the wall clock, which is how late a step of the clock is noticed. Shorter
/// wakes a thread more often. Chosen. Read by `WallClock`.
pub(super) const WALL_LOOK: Duration = Duration::from_secs(60);

// --- Windows ---

/// The number of waits that are kept for future sockets. More takes memory after a peak; fewer creates more of them
/// anew. Chosen. Read by `Members`.
pub(super) const SPARE_WAITS: usize = 1024;

/// How long dropping a runtime waits for its threads where they may be unable to end. No thread of the process can
/// start or end while one runs the destructors of its thread-locals, so a runtime that is dropped by such a destructor
/// would wait in vain. Longer blocks such a destructor for longer; shorter leaves threads behind that are about to end.
/// Chosen. Read by `finish_with_grace`.
pub(super) const DROP_WAIT: Duration = Duration::from_millis(250);

/// How long a callback that is only returning may take, regardless of the deadline. Longer delays a shutdown beside a
/// callback that has no thread to run on; shorter reports callbacks that are about to end. Chosen. Read by `end`.
pub(super) const CALLBACK_RETURN: Duration = Duration::from_millis(250);
