//! Events that the runtime reports unasked: to `tracing` if that feature is on. Without it, long polls go to standard
//! error, and nothing else is reported.

#[cfg(feature = "tracing")]
pub(crate) use traced::{in_span, long_poll, straggler, task_panicked};
#[cfg(not(feature = "tracing"))]
pub(crate) use untraced::{long_poll, straggler, task_panicked};

#[cfg(not(feature = "tracing"))]
mod untraced {
    use std::any::Any;
    use std::io::Write;
    use std::panic::Location;

    use crate::shutdown::Straggler;
    use crate::stuck::LongPoll;
    use crate::task::Id;

    pub(crate) fn long_poll(report: &LongPoll, left_out: u64) {
        let more = match left_out {
            0 => String::new(),
            count => format!(" ({count} more like this were left out)"),
        };
        // In one piece, and without a panic if nobody reads it.
        let text = format!("windlass: {report}{more}\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    #[inline(always)]
    pub(crate) fn straggler(_straggler: &Straggler) {}

    #[inline(always)]
    pub(crate) fn task_panicked(_id: Id, _location: &Location<'_>, _payload: &(dyn Any + Send)) {}
}

#[cfg(feature = "tracing")]
mod traced {
    use std::any::Any;
    use std::future::Future;
    use std::panic::Location;

    use tracing::instrument::{Instrument, Instrumented};

    use crate::shutdown::Straggler;
    use crate::stuck::LongPoll;
    use crate::task::Id;

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
        let message = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        tracing::error!(
            target: "windlass::task",
            panic = message,
            task.id = %id,
            task.site = %location,
            "a task has panicked"
        );
    }
}
