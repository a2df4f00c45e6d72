//! The other end of the wire: a process of its own that puts load on a server, so that the server
//! is alone in its process and its CPU time is its own.
//!
//! A load that measures says `ready` when its connections stand, and begins when it is
//! told to, so that several begin at once. It is this same program, called with a
//! subcommand that the usage does not mention. The server's side of it is [`Load`]. It
//! ends by itself: when its work is done, when the process that started it ends, when the
//! server falls silent, and at the latest when its alarm goes off.

mod broadcast;
mod connection;
mod group;
mod hold;
mod job;
mod meter;
mod open;
mod outcome;
mod process;
mod pump;
mod threads;

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

pub(crate) use broadcast::GREETING;
pub(crate) use group::Loads;
pub(crate) use job::{Ask, Job, Style};
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
        Job::Ask(ref asked) => match asked.style {
            Style::Closed => pump::run(asked),
            Style::Open { per_second } => open::run(asked, per_second),
            Style::Broadcast => broadcast::run(asked),
            Style::Churn => threads::run(asked, threads::churn),
            Style::Bulk => threads::run(asked, threads::bulk),
        },
        Job::Hold { address, first, rest, .. } => hold::run(address, first, rest),
        Job::Burn { .. } => burn(),
    };
    done.map_err(|why| format!("load: {why}"))
}

/// A neighbour: keeps a CPU busy until somebody ends this process.
fn burn() -> ! {
    let mut step = 0_u64;
    loop {
        step = black_box(step.wrapping_add(1));
    }
}

/// Says that everything is prepared, and waits for the word to begin.
fn wait_for_go() -> io::Result<()> {
    say(READY)?;
    let mut line = String::new();
    match io::stdin().read_line(&mut line)? {
        0 => Err(io::Error::other("nobody said that it should begin")),
        _ => Ok(()),
    }
}

/// What a load says when it could begin.
const READY: &str = "ready";

fn say(word: &str) -> io::Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{word}")?;
    out.flush()
}
