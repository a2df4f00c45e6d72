//! Latch, events and cancellation for async and blocking code, without a runtime.
//!
//! There are four primitives. A task can await any of them, a thread can block on it (`wait_blocking`, `wait_timeout`),
//! and any thread can signal it. Tasks of different runtimes and threads without a runtime can use the same object.
//!
//! | | released by | stays signalled |
//! |---|---|---|
//! | [`Latch`] | the count reaching zero | for ever |
//! | [`AutoResetEvent`] | `set`, one waiter each, in order of arrival | until it has released one waiter |
//! | [`ManualResetEvent`] | `set`, all waiters | until `reset` |
//! | [`CancellationToken`] | `cancel` of the token or an ancestor | for ever |
//!
//! Waiting allocates nothing, because the entry in the queue is part of the future. That is why a wait borrows the
//! primitive, and has to be pinned to be polled (`.await` does that). Dropping a wait before it has completed loses no
//! signal.
//!
//! Without waiters no operation takes a lock. With waiters, the lock is held for a few instructions at a time, and
//! never while foreign code (a waker) runs.
//!
//! The primitives depend on no runtime, but a wait that completes counts against the budget of a windlass task. So a
//! task that loops over an event that is always set lets others run now and then, and can be aborted. If the task has
//! no budget left, the first poll of a wait returns `Pending` once and wakes the task at once. A waiter that was
//! released in the queue is never delayed.
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
//! - `budget` counts the operations that a task may complete in one poll.
//! - `parker` blocks a thread, and `blocking` keeps one parker per thread.
//! - `waiters` is the intrusive queue. `wait` is the future and the blocking loop that use it.
//! - `waits` tells the runtime what a future waits for.
//! - The module of each primitive defines the meaning of its state word.
//! - `primitives` stands between all of them and `std::sync`, so that loom can replace it.
//!
//! The loom models are in the workspace's `loom-tests`.

/// Defines a function that is `const`, except in models, because loom's types have no `const` constructors.
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

/// Implements `Debug` for a type that shows nothing but its name: `opaque_debug!([T: Send] Type<T>)`.
#[doc(hidden)]
#[macro_export]
macro_rules! opaque_debug {
    ([$($generics:tt)*] $name:ident $($arguments:tt)*) => {
        impl<$($generics)*> ::std::fmt::Debug for $name $($arguments)* {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
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
mod policy;
#[doc(hidden)]
pub mod primitives;
mod quiet;
mod wait;
mod waiters;
#[doc(hidden)]
pub mod waits;
mod wake_batch;

pub use auto_reset_event::{AutoResetEvent, AutoResetWait};
pub use cancellation::{CancellationToken, Cancelled, CancelledOwned, DropGuard, DropGuardRef};
pub use latch::{Latch, LatchWait};
pub use manual_reset_event::{ManualResetEvent, ManualResetWait};

#[doc(hidden)]
pub use blocking::{block_on, block_on_parking, is_thread_waker};
#[doc(hidden)]
pub use parker::{Parker, Unparker};
#[doc(hidden)]
pub use quiet::{drop_quietly, quietly};
