//! The other end of the wire: a process of its own that puts load on a server, so that the server
//! is alone in its process and its CPU time is its own.
//!
//! It is this same program, called with a subcommand that the usage does not mention. The server's
//! side of it is [`Load`]. It ends by itself: when its work is done, when the process that started
//! it ends, when the server falls silent, and at the latest when its alarm goes off.

mod connection;
mod hold;
mod job;
mod process;
mod pump;

use std::time::Duration;

pub(crate) use job::{Ask, Job};
pub(crate) use process::Load;

use crate::support::sys;

/// So long a server may take for one answer. One that needs longer has lost it.
const PATIENCE: Duration = Duration::from_secs(5);

/// A job that takes this much longer than it was asked to take hangs.
const GRACE: Duration = Duration::from_secs(25);

/// What the subcommand does.
pub(crate) fn run(job: &Job) -> Result<(), String> {
    sys::end_after(job.lasts() + GRACE);
    let prepared = sys::die_with(job.server()).and_then(|()| sys::raise_open_files());
    prepared.map_err(|why| format!("load: {why}"))?;
    let done = match *job {
        Job::Ask(ref asked) => pump::run(asked),
        Job::Hold { address, first, rest, .. } => hold::run(address, first, rest),
    };
    done.map_err(|why| format!("load: {why}"))
}
