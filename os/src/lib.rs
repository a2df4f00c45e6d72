//! Signals, processes, files and standard streams for the windlass runtime.
//!
//! Programs use this crate through the facade `windlass`.
//!
//! | for | use |
//! |---|---|
//! | Ctrl-C, and other signals | [`signal`] |
//! | child processes | [`process`] |
//! | files and directories | [`fs`] |
//! | copying, proxies, the standard streams | [`io`] |
//!
//! # How it is built
//!
//! The runtime's poller waits for everything that the OS can poll: signals (through a socket that the handler writes
//! to), ends of processes, pipes. Everything else runs on the runtime's blocking pool: `blocking` makes the calls, and
//! `buffered` turns them into a stream. `sys` is the only module that names an OS.

mod blocking;
mod buffered;
pub mod fs;
pub mod io;
mod policy;
pub mod process;
pub mod signal;
mod sys;
