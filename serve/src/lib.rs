//! Serving connections, and shutting down without losing one.
//!
//! Programs use this crate through the facade `windlass`, as `windlass::serve`.
//!
//! # How it is built
//!
//! [`Drain`] is a server that is set up, and `Server` one that runs: it takes the
//! steps of a drain one after the other. `Open` is the set of open connections, which
//! the tasks of the connections leave when they end. [`Listener`] is the source of
//! connections. [`Switch`] tells a server to end, and `Triggers` are the
//! futures, signals and other servers that do so without one.

mod accept_errors;
mod drain;
mod listener;
mod open;
mod policy;
mod report;
mod server;
mod switch;
mod tap;
mod triggers;
// Local sockets exist in this form on Unix only.
#[cfg(unix)]
mod unix;

pub use drain::Drain;
pub use listener::Listener;
pub use report::DrainReport;
pub use switch::{Hold, Switch};
pub use tap::{ListenerExt, TapIo};
