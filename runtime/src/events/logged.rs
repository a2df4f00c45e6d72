//! Writes records of `log`, with the targets and levels of the events of `tracing`. The fields of those events are part
//! of the text.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::io;
use std::panic::Location;
use std::path::PathBuf;

use super::more;
use crate::observe::DumpCause;
use crate::shutdown::Straggler;
use crate::stuck::LongPoll;
use crate::task::{Id, message};

pub(crate) fn long_poll(report: &LongPoll, left_out: u64) {
    log::warn!(target: "windlass::long_poll", "{report}{}", more(left_out));
}

pub(crate) fn straggler(straggler: &Straggler) {
    log::warn!(target: "windlass::shutdown", "a shutdown did not wait for a {straggler}");
}

pub(crate) fn task_panicked(id: Id, location: &Location<'_>, payload: &(dyn Any + Send)) {
    let message = message(payload).unwrap_or("with something that is no text");
    // Escaped, as in all texts: it may have been made by others.
    log::error!(
        target: "windlass::task",
        "a task has panicked: task {id}, spawned at {location}: {message:?}"
    );
}

pub(crate) fn flight_dump(cause: DumpCause, written: &io::Result<PathBuf>) {
    let target = "windlass::flight_record";
    match written {
        Ok(path) => {
            log::warn!(target: target, "the flight record was written to {path:?}, because {cause}");
        }
        Err(error) => {
            log::error!(target: target, "the flight record could not be written, although {cause}: {error}");
        }
    }
}

pub(crate) fn accept_failed(error: &io::Error, server: &Location<'_>, left_out: u64) {
    log::warn!(
        target: "windlass::serve",
        "the server started at {server} could not accept a connection: {error}{}",
        more(left_out)
    );
}

pub(crate) fn connection_failed(error: &dyn Error, peer: &dyn fmt::Debug) {
    log::debug!(target: "windlass::serve", "the connection of {peer:?} has failed: {error}");
}
