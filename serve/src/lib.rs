//! Accepting connections, and coming to an end without losing one.
//!
//! This crate is an implementation detail of `windlass`; its items are re-exported there as `windlass::serve`, which says how
//! to use them.
//!
//! `Drain` runs the steps one after the other. `Open` is the set of connections that are open, which the tasks of
//! the connections leave by themselves. `Listener` is what connections come from; `Switch` is what tells a drain to
//! begin.

mod drain;
mod listener;
mod open;
mod report;
mod switch;
// Local sockets as Unix has them.
#[cfg(unix)]
mod unix;

pub use drain::Drain;
pub use listener::Listener;
pub use report::DrainReport;
pub use switch::{Hold, Switch};
