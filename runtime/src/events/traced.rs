//! Events and spans of `tracing`.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::path::PathBuf;

use tracing::instrument::{Instrument, Instrumented};

use crate::observe::DumpCause;
use crate::shutdown::Straggler;
use crate::stuck::LongPoll;
use crate::task::{Id, message};

/// Returns the future of a task in a span of its own, which is entered for each poll. It has no parent, but follows
/// from the span in which the task is spawned.
pub(crate) fn in_span<F: Future>(
    future: F,
    id: Id,
    location: &Location<'_>,
    name: Option<&str>,
) -> Instrumented<F> {
    let span = tracing::debug_span!(
        target: "windlass::task",
        parent: None,
        "task",
        task.id = %id,
        task.name = name,
        task.site = %location,
    );
    span.follows_from(tracing::Span::current());
    future.instrument(span)
}

pub(crate) fn long_poll(report: &LongPoll, left_out: u64) {
    tracing::warn!(
        target: "windlass::long_poll",
        kind = ?report.kind(),
        task.id = report.task().map(tracing::field::display),
        task.name = report.name(),
        task.site = report.location().map(tracing::field::display),
        worker = report.worker(),
        elapsed = ?report.elapsed(),
        left_out,
        "{report}"
    );
}

pub(crate) fn straggler(straggler: &Straggler) {
    tracing::warn!(
        target: "windlass::shutdown",
        is_blocking = straggler.is_blocking(),
        task.name = straggler.name(),
        task.site = %straggler.location(),
        "a shutdown did not wait for a {straggler}"
    );
}

pub(crate) fn task_panicked(id: Id, location: &Location<'_>, payload: &(dyn Any + Send)) {
    tracing::error!(
        target: "windlass::task",
        panic = message(payload),
        task.id = %id,
        task.site = %location,
        "a task has panicked"
    );
}

pub(crate) fn flight_dump(cause: DumpCause, written: &io::Result<PathBuf>) {
    match written {
        Ok(path) => tracing::warn!(
            target: "windlass::flight_record",
            path = %path.display(),
            "the flight record was written, because {cause}"
        ),
        Err(error) => tracing::error!(
            target: "windlass::flight_record",
            %error,
            "the flight record could not be written, although {cause}"
        ),
    }
}

pub(crate) fn accept_failed(error: &io::Error, server: &Location<'_>, left_out: u64) {
    tracing::warn!(
        target: "windlass::serve",
        %error,
        server = %server,
        left_out,
        "a server could not accept a connection"
    );
}

pub(crate) fn connection_failed(error: &dyn Error, peer: &dyn fmt::Debug) {
    tracing::debug!(target: "windlass::serve", %error, ?peer, "a connection has failed");
}
