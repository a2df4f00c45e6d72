//! Timer wheel and timer futures of the windlass runtime.
//!
//! This crate owns no thread and no descriptor. The runtime tells it the time, asks it for the next deadline, and has
//! it fire the timers that are due. Programs use it through the facade, as `windlass::timer`.
//!
//! # The parts
//!
//! - [`Sleep`], [`Timer`], [`Interval`], [`Timeout`]: the futures that programs await. They find their runtime through
//!   a [`Host`], which the runtime crate implements.
//! - [`Timers`]: the timers of a runtime, in shards, and the promise of the thread that sleeps until the next
//!   deadline, the *timekeeper*.
//! - [`Shard`]: a wheel behind a lock. Each worker has one. A [`ShardRef`] is the runtime's reference to it.
//! - [`Wheel`]: timers by deadline, with arming and cancelling in constant time.
//!
//! All thresholds are in `policy.rs`.

// Models have no OS clock, so they leave some items unused.
#![cfg_attr(loom, allow(dead_code))]

mod batch;
mod coalescer;
mod entries;
mod firing_claim;
mod holders;
mod host;
mod interval;
mod lock;
#[cfg(loom)]
#[doc(hidden)]
pub mod model;
mod nanos;
mod policy;
mod shard;
mod sleep;
mod slots;
mod timekeeper;
mod timeout;
mod timer;
mod timers;
mod wait;
mod waker_cache;
mod wheel;

pub use entries::Garbage;
pub use holders::ShardRef;
pub use host::{Host, expect_virtual_time, now};
pub use interval::{Interval, MissedTick};
pub use nanos::{epoch, in_nanos, nanos};
pub use shard::Shard;
pub use sleep::Sleep;
pub use timekeeper::{Driver, NEVER};
pub use timeout::{Elapsed, Timeout};
pub use timer::{Timer, TimerWait};
pub use timers::Timers;
pub use wheel::{Key, Wheel};
