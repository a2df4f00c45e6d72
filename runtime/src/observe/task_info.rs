//! The description of a task in a list of all tasks.

use std::net::SocketAddr;
use std::panic::Location;
use std::time::{Duration, Instant};

use crate::poller::Direction;
use crate::task::Id;

/// A task as [`Handle::tasks`](crate::Handle::tasks) has found it.
///
/// With [`Builder::observe(false)`](crate::Builder::observe), tasks note nothing: times and counts are zero, and what
/// an idle task waits for is [`Unknown`](WaitsFor::Unknown).
///
/// # Examples
///
/// ```
/// use windlass::observe::TaskState;
///
/// let runtime = windlass::Builder::new().workers(1).build()?;
/// let task = runtime.spawn(std::future::pending::<()>());
/// let listed = || runtime.handle().tasks().into_iter().find(|info| info.id == task.id());
/// while listed().is_none_or(|info| info.state != TaskState::Idle) {
///     std::thread::yield_now(); // it has not been polled yet
/// }
/// assert_eq!(listed().unwrap().polls, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TaskInfo {
    /// The kind of the entry: a task, or something else that the runtime runs.
    pub kind: TaskKind,
    /// The task's id. The future of a `block_on` has one only for this list.
    pub id: Id,
    /// The name given with [`task::Builder`](crate::task::Builder); for a `block_on`, that of the thread.
    pub name: Option<String>,
    /// The place where the task was spawned, or `block_on` was called.
    pub location: &'static Location<'static>,
    /// The time since it was spawned, within a tenth of a millisecond; for a task that was spawned in a task, the time
    /// since its first poll.
    pub age: Duration,
    /// The state: it waits, is ready or is running.
    pub state: TaskState,
    /// True if it is running, and in a computation: a closure of [`compute`](crate::compute), or a `join` or `scope` of
    /// the task. Such a poll may take long without holding up other tasks.
    pub is_computing: bool,
    /// True if it is running, and in a call of [`block_in_place`](crate::task::block_in_place), so that other tasks do
    /// not wait for it.
    pub is_blocked: bool,
    /// The number of times that it has been polled. Starts again from 0 after 2³² polls.
    pub polls: u32,
    /// The time spent in its polls. Each poll of more than some microseconds is measured; short ones are sampled, so
    /// the value is an estimate, and 0 for a task with few short polls.
    pub busy: Duration,
    /// The thing that the task waits for, if it is idle, as reported by the windlass future that returned `Pending`
    /// last. For a closure of `spawn_blocking` that calls `block_on`, what that waits for.
    pub waits_for: WaitsFor,
    /// The time since the start of the last poll, or of the closure, within a millisecond. Zero for a
    /// task that waits for nothing.
    pub waiting_for: Duration,
}

/// The kind of an entry of the list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskKind {
    /// A task that any worker may run; on a [manual loop](crate::manual::Loop), any task.
    #[default]
    Task,
    /// A closure of [`spawn_blocking`](crate::spawn_blocking), on a thread of the blocking pool or in its queue.
    Blocking,
    /// A task that stays on one thread, of [`spawn_local`](crate::task::spawn_local) or
    /// [`spawn_pinned`](crate::task::spawn_pinned).
    Local,
    /// The future of a [`block_on`](crate::block_on). A call by a task or a closure is not listed: the entry of that
    /// task or closure says what it waits for.
    BlockOn,
}

/// The state of a task: it waits, is ready or is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskState {
    /// It waits to be woken.
    Idle,
    /// It is ready and waits for a worker.
    Queued,
    /// It is being polled.
    Running {
        /// The index of the worker, as [`worker_index`](crate::worker_index) returns it there. Spares come after the
        /// workers.
        worker: usize,
        /// When the poll began, at the earliest. A worker does not read the clock for each short poll, so the poll may
        /// have begun later, by the time of up to 16 short polls. Without [observation](crate::Builder::observe), that
        /// is not known, and this is the time of the listing.
        since: Instant,
    },
    /// It is being polled by a thread that is not a worker: one of the blocking pool, one for pinned tasks, or the one
    /// that has called `block_on`.
    RunningOutside {
        /// When the poll or the closure began, within a millisecond. Without [observation](crate::Builder::observe),
        /// the time of the listing.
        since: Instant,
    },
}

/// The thing that an idle task waits for.
///
/// Futures of windlass say what they wait for when they return `Pending`. If a task waits for several things at once,
/// as in a `select`, it is the last one that was polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitsFor {
    /// A socket, a pipe or another descriptor.
    Socket {
        /// The descriptor, or the socket's handle on Windows. It may have been closed since.
        fd: u32,
        /// Whether the task wants to read or to write.
        direction: Direction,
        /// The address of the peer, if it is a connected socket.
        peer: Option<SocketAddr>,
    },
    /// A timer.
    Timer {
        /// When it is due, within a tenth of a millisecond. A deadline more than three days away is not exact.
        deadline: Instant,
    },
    /// The end of the task with this id.
    Join(Id),
    /// The end of the closure of `spawn_blocking` with this id.
    Blocking(Id),
    /// The end of the next task of a [`JoinSet`](crate::task::JoinSet). With a single task left in the set it is
    /// [`Join`](Self::Join), or [`Blocking`](Self::Blocking).
    JoinSet {
        /// How many tasks were in the set when the wait began.
        tasks: u32,
    },
    /// An event of `windlass::sync`.
    Event,
    /// A latch, or the tasks of a [`TaskTracker`](crate::task::TaskTracker).
    Latch,
    /// A cancellation token.
    Cancellation,
    /// Something that is not part of windlass, or a lock or channel: those of `windlass::lock` and `windlass::channel`
    /// are `async-lock`'s and `async-channel`'s. The task will be woken by whoever has its waker.
    Unknown,
    /// Nothing: the task is ready or running, or has not been polled yet.
    Nothing,
}
