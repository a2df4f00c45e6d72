//! Tasks, work-stealing scheduler, poller and blocking pool of the windlass runtime.
//!
//! Programs use this crate through the facade `windlass`.
//!
//! # Modules
//!
//! - [`task`]: a future, its state and its output in one allocation. Does not depend on the scheduler.
//! - `sched`: workers, ready queues, sleeping and waking, and the monitor that starts spare workers.
//! - `poller`: waiting for I/O and for the next deadline. The first worker to fall asleep waits, until something wakes
//!   it. If no worker can, the poller's own thread does.
//! - `timer_host`: connects timers to the runtime that they belong to.
//! - `fork`: fork-join on the workers.
//! - `blocking`: threads for calls that block.
//! - `local`: tasks that stay on one thread.
//! - [`observe`]: looks into a running runtime.
//! - [`Runtime`], [`Builder`], [`Handle`] and the free functions: the interface for programs.

// Models use a part of the crate, with smaller constants and without an OS.
#![cfg_attr(loom, allow(dead_code, clippy::modulo_one, clippy::unit_arg))]
#![cfg_attr(loom, allow(clippy::reversed_empty_ranges))]

mod blocking;
mod builder;
mod builder_check;
mod builder_hooks;
mod cgroup;
mod companion;
mod context;
mod coop;
mod cpus;
mod deque;
mod entered;
mod events;
mod fork;
mod free;
mod global;
mod gone;
mod handle;
mod hooks;
mod in_place;
mod local;
pub mod manual;
mod metrics;
#[cfg(any(loom, fuzzing))]
#[doc(hidden)]
pub mod model;
pub mod observe;
mod poller;
#[cfg(all(test, not(loom)))]
mod random;
mod runtime;
mod sched;
mod shutdown;
mod stuck;
pub mod task;
mod timer_host;

/// Registers descriptors with the poller. All sockets are built on this.
pub mod io {
    #[doc(hidden)]
    pub use crate::poller::os;
    pub use crate::poller::{Descriptor, Direction, RawDescriptor, Registration, Seen};
}

/// Reports of servers, for the crates that serve.
#[doc(hidden)]
pub mod serving {
    pub use crate::events::{accept_failed, connection_failed};
}

/// Sleeps, time-outs and intervals. The futures are those of `windlass_timer`, made for these runtimes.
#[cfg(not(loom))]
pub mod timer {
    #[doc(hidden)]
    pub use crate::timer_host::Runtimes;
    pub use crate::timer_host::api::{
        FutureExt, Interval, Sleep, Timeout, Timer, TimerWait, interval, interval_at, now, sleep,
        sleep_until, timeout, timeout_at,
    };
    pub use crate::timer_host::test;
    pub use windlass_timer::{Elapsed, MissedTick};
}

pub(crate) use windlass_sync::primitives;

pub use builder::Builder;
pub use companion::{Companion, ThreadKind};
pub use context::worker_index;
#[cfg(not(loom))]
#[doc(hidden)]
pub use fork::support as rayon_support;
pub use fork::{Scope, compute, join, par, scope, scope_in_place};
pub use free::{block_on, resume_on_pool, spawn, spawn_blocking, yield_now};
pub use gone::is_shutdown_error;
pub use handle::{EnterGuard, Handle};
pub use hooks::TaskMeta;
pub use metrics::{Metrics, WorkerMetrics};
pub use runtime::Runtime;
pub use shutdown::{ShutdownReport, Straggler};
pub use stuck::{LongPoll, LongPollKind, StackFrame, StackTrace};
