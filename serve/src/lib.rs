//! Serving connections, and shutting down without losing one.
//!
//! Programs use this crate through the facade `windlass`, as `windlass::serve`.
//!
//! # How it is built
//!
//! [`Drain`] holds the settings of a server, and `Server` is the running server: it takes the steps of a drain one
//! after the other. `Open` is the set of open connections; a connection's task leaves it when the task ends.
//! [`Listener`] is the source of connections. [`Switch`] tells a server to end.

mod drain;
mod listener;
mod open;
mod policy;
mod report;
mod server;
mod switch;
mod tap;
// Local sockets exist in this form on Unix only.
#[cfg(unix)]
mod unix;

pub use drain::Drain;
pub use listener::Listener;
pub use report::DrainReport;
pub use switch::{Hold, Switch};
pub use tap::{ListenerExt, TapIo};
