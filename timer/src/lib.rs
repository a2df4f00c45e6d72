//! Timer wheel and timer futures of the windlass runtime.
//!
//! This crate is pure: it owns no thread, no descriptor and no clock. The runtime tells it what
//! time it is and asks for the next deadline.

mod wheel;

pub use wheel::{Key, Wheel};
