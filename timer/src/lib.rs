//! Timer wheel and timer futures of the windlass runtime.
//!
//! This crate is pure: it owns no thread and no descriptor, and the runtime tells it what time it is
//! and is told when to come back. Programs use it through the facade, as `windlass::timer`.
//!
//! # The parts
//!
//! - [`Wheel`]: timers by deadline; arming and cancelling in constant time.
//! - [`Shard`]: a wheel behind a lock. Each worker has one, at [`Home`] in its runtime.
//! - [`Timers`]: the shards of a runtime, and the promises of those who sleep until the next deadline.
//! - [`Sleep`], [`Timer`], [`Interval`], [`Timeout`]: what programs await. They find their runtime through
//!   the [`Host`] for which they are made, that is the runtime crate.

// In models there is no OS clock to wait for.
#![cfg_attr(loom, allow(dead_code))]

mod host;
mod interval;
mod lease;
mod lock;
#[cfg(loom)]
#[doc(hidden)]
pub mod model;
mod nanos;
mod pace;
mod shard;
mod slab;
mod sleep;
mod slots;
mod spare;
mod timekeeper;
mod timeout;
mod timer;
mod timers;
mod turn;
mod wait;
mod wheel;

pub use host::{Host, expect_virtual_time, now};
pub use interval::{Interval, MissedTick};
pub use lease::{Home, Lease};
pub use nanos::{epoch, in_nanos, nanos};
pub use shard::{Ended, Shard};
pub use slab::Garbage;
pub use sleep::Sleep;
pub use timekeeper::{Driver, NEVER};
pub use timeout::{Elapsed, Timeout};
pub use timer::{Timer, TimerWait};
pub use timers::Timers;
pub use wheel::{Key, Wheel};
