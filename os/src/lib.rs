//! Signals, processes, files and standard streams for the windlass runtime.
//!
//! Programs use this crate through the facade `windlass`.
//!
//! | for | use |
//! |---|---|
//! | Ctrl-C, and any signal | [`signal`] |
//! | child processes | [`process`] |
//! | files and directories | [`fs`] |
//! | copying, proxies, the standard streams | [`io`] |
//!
//! # How it is built
//!
//! What the OS can poll goes through the runtime's poller: signals (a socket that the handler writes to), ends of processes,
//! pipes. What it can't poll goes to the runtime's blocking pool: `blocking` has the calls, and `buffered` makes a stream of
//! them. `sys` is the only place that names an OS.

mod blocking;
mod buffered;
pub mod fs;
pub mod io;
pub mod process;
pub mod signal;
mod sys;
