//! Latch, events and cancellation for async and blocking code, without a runtime.
//!
//! Four things to wait for. Each can be awaited, waited for by a plain thread
//! (`wait_blocking`, `wait_timeout`), and signalled from anywhere; tasks of different runtimes and
//! threads without one may meet on the same object.
//!
//! | | released by | stays signalled |
//! |---|---|---|
//! | [`Latch`] | the count reaching zero | for ever |
//! | [`AutoResetEvent`] | `set`, one waiter each, first come first served | until one waiter came |
//! | [`ManualResetEvent`] | `set`, all waiters | until `reset` |
//! | [`CancellationToken`] | `cancel` of it or an ancestor | for ever |
//!
//! Waiting allocates nothing: the place in the queue is part of the future. That is why a wait
//! borrows what it waits for and must be pinned to be polled (`.await` does that). A wait dropped
//! half-way loses no signal.
//!
//! Without waiters no operation takes a lock. With waiters, the lock is held for a few
//! instructions each, never while foreign code (a waker) runs.
//!
//! None of them knows of a runtime, but a wait that completes counts against the budget by which a task of windlass lets
//! others run: a task that loops over what is signalled all the time gives way now and then, and can be aborted. Without
//! budget, a wait is pending once, at its first poll, and wakes its task at once. What was released in the queue is
//! never held up.
//!
//! ```
//! use std::sync::Arc;
//! use windlass::block_on;
//! use windlass::sync::{AutoResetEvent, Latch};
//!
//! let work = Arc::new(AutoResetEvent::new(false));
//! let done = Arc::new(Latch::new(2));
//! for _ in 0..2 {
//!     let (work, done) = (work.clone(), done.clone());
//!     std::thread::spawn(move || {
//!         block_on(work.wait()); // or work.wait_blocking()
//!         done.count_down();
//!     });
//! }
//! work.set();
//! while !done.wait_timeout(std::time::Duration::from_millis(1)) {
//!     work.set();
//! }
//! ```
//!
//! # How it is built
//!
//! `budget` is the count of what a task may do in one poll. `parker` blocks a thread and `blocking` keeps one parker for each. `waiters` is the intrusive
//! queue, `wait` the one future and the one blocking loop that use it, and each primitive adds the
//! meaning of its state word. The loom models of all of them are in the workspace's `loom-tests`.

/// Defines a function that is `const`, except in models: loom's types cannot be made in a `const`.
macro_rules! const_fn {
    (
        $(#[$meta:meta])*
        $vis:vis const fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty $body:block
    ) => {
        #[cfg(not(loom))]
        $(#[$meta])*
        $vis const fn $name($($arg: $type),*) -> $result $body

        #[cfg(loom)]
        $(#[$meta])*
        $vis fn $name($($arg: $type),*) -> $result $body
    };
}

mod auto_reset_event;
mod blocking;
#[doc(hidden)]
pub mod budget;
mod cancellation;
mod event_state;
mod latch;
mod manual_reset_event;
mod parker;
#[doc(hidden)]
pub mod primitives;
mod wait;
mod waiters;
mod wake_batch;

pub use auto_reset_event::{AutoResetEvent, AutoResetWait};
pub use cancellation::{CancellationToken, Cancelled, CancelledOwned, DropGuard};
pub use latch::{Latch, LatchWait};
pub use manual_reset_event::{ManualResetEvent, ManualResetWait};

#[doc(hidden)]
pub use blocking::block_on;
#[doc(hidden)]
pub use parker::{Parker, Unparker};
