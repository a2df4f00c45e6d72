//! Timer wheel and timer futures of the windlass runtime.
//!
//! This crate is pure: it owns no thread and no descriptor, and the runtime tells it what time it is
//! and is told when to come back. Programs use it through the facade, as `windlass::timer`.
//!
//! # The parts
//!
//! - [`Wheel`]: timers by deadline; arming and cancelling in constant time.
//! - [`Shard`]: a wheel behind a lock. Each worker has one.
//! - [`Timers`]: the shards of a runtime, and the promises of those who sleep until the next deadline.
//! - [`Sleep`], [`Timer`], [`Interval`], [`Timeout`]: what programs await. They find their runtime through
//!   the [`Host`], which the runtime introduces.

// In models there is no OS clock to wait for.
#![cfg_attr(loom, allow(dead_code))]

mod host;
mod interval;
#[cfg(loom)]
#[doc(hidden)]
pub mod model;
mod nanos;
mod pace;
mod shard;
mod slab;
mod sleep;
mod timeout;
mod timer;
mod timers;
mod vigil;
mod wait;
mod wheel;

pub use host::{Host, expect_test_clocks, now, set_host};
pub use interval::{Interval, MissedTick, interval, interval_at};
pub use nanos::{epoch, in_nanos, nanos};
pub use shard::Shard;
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Elapsed, FutureExt, Timeout, timeout, timeout_at};
pub use timer::{Timer, TimerWait};
pub use timers::Timers;
pub use vigil::{Driver, Keeper, NEVER};
pub use wheel::{Key, Wheel};
