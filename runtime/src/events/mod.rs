//! Reports events to `tracing` and `log`, with the features of these names. Without either, long polls, dumps of the
//! flight record and errors of `accept` are reported on standard error, and everything else is found in join errors and reports only.

#[cfg(feature = "log")]
mod logged;
#[cfg(feature = "tracing")]
mod traced;
#[cfg(not(any(feature = "log", feature = "tracing")))]
mod written;

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;
use std::panic::Location;
use std::path::PathBuf;

#[cfg(feature = "tracing")]
pub(crate) use traced::in_span;

use crate::observe::DumpCause;
use crate::shutdown::Straggler;
use crate::stuck::LongPoll;
use crate::task::Id;

/// Tells of something that is stuck, and how many like it were left out.
pub(crate) fn long_poll(report: &LongPoll, left_out: u64) {
    #[cfg(feature = "tracing")]
    traced::long_poll(report, left_out);
    #[cfg(feature = "log")]
    logged::long_poll(report, left_out);
    #[cfg(not(any(feature = "log", feature = "tracing")))]
    written::long_poll(report, left_out);
}

/// Tells of a task that a shutdown did not wait for.
pub(crate) fn straggler(_straggler: &Straggler) {
    #[cfg(feature = "tracing")]
    traced::straggler(_straggler);
    #[cfg(feature = "log")]
    logged::straggler(_straggler);
}

/// Tells that a task has panicked.
#[inline(always)]
pub(crate) fn task_panicked(_id: Id, _location: &Location<'_>, _payload: &(dyn Any + Send)) {
    #[cfg(feature = "tracing")]
    traced::task_panicked(_id, _location, _payload);
    #[cfg(feature = "log")]
    logged::task_panicked(_id, _location, _payload);
}

/// Tells where a flight record was written to, or why it was not.
pub(crate) fn flight_dump(cause: DumpCause, written: &io::Result<PathBuf>) {
    #[cfg(feature = "tracing")]
    traced::flight_dump(cause, written);
    #[cfg(feature = "log")]
    logged::flight_dump(cause, written);
    #[cfg(not(any(feature = "log", feature = "tracing")))]
    written::flight_dump(cause, written);
}

/// Tells that a server could not accept a connection, and how many reports like this were left out.
pub fn accept_failed(error: &io::Error, server: &Location<'_>, left_out: u64) {
    #[cfg(feature = "tracing")]
    traced::accept_failed(error, server, left_out);
    #[cfg(feature = "log")]
    logged::accept_failed(error, server, left_out);
    #[cfg(not(any(feature = "log", feature = "tracing")))]
    written::accept_failed(error, server, left_out);
}

/// Tells that a connection of a server has ended with an error, which is its peer's doing for the most part.
pub fn connection_failed(_error: &dyn Error, _peer: &dyn fmt::Debug) {
    #[cfg(feature = "tracing")]
    traced::connection_failed(_error, _peer);
    #[cfg(feature = "log")]
    logged::connection_failed(_error, _peer);
}

/// Returns what to add to a text because this many like it were left out.
#[cfg(any(feature = "log", not(feature = "tracing")))]
fn more(left_out: u64) -> String {
    match left_out {
        0 => String::new(),
        count => format!(" ({count} more like this were left out)"),
    }
}
