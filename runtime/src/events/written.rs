//! Writes important reports to standard error.

use std::io::{self, Write};
use std::panic::Location;
use std::path::PathBuf;

use super::more;
use crate::observe::DumpCause;
use crate::stuck::LongPoll;

/// Writes a line in one piece, and without a panic if nobody reads it.
fn write(text: &str) {
    let _ = io::stderr().write_all(format!("windlass: {text}\n").as_bytes());
}

pub(crate) fn long_poll(report: &LongPoll, left_out: u64) {
    write(&format!("{report}{}", more(left_out)));
}

pub(crate) fn flight_dump(cause: DumpCause, written: &io::Result<PathBuf>) {
    match written {
        Ok(path) => write(&format!("the flight record was written to {path:?}, because {cause}")),
        Err(error) => {
            write(&format!("the flight record could not be written, although {cause}: {error}"));
        }
    }
}

pub(crate) fn accept_failed(error: &io::Error, server: &Location<'_>, left_out: u64) {
    write(&format!(
        "the server started at {server} could not accept a connection: {error}{}",
        more(left_out)
    ));
}
