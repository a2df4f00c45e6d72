//! Models live in `tests/`; here is what they share.

#[cfg(loom)]
mod poison;
#[cfg(loom)]
mod support;

#[cfg(loom)]
pub use poison::Poison;
#[cfg(loom)]
pub use support::{Drops, Flag, Guard, Stash, check, check_large, output};
