//! Latch, events and cancellation for async and blocking code, without a runtime.

mod parker;
#[doc(hidden)]
pub mod primitives;

#[doc(hidden)]
pub use parker::{Parker, Unparker};
