//! What has happened so far, over all rounds; and the end of the process if something is wrong.

use std::backtrace::Backtrace;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::awake;

/// How long anything may take to end before that counts as a hang, by the clock of [`awake`].
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

macro_rules! ledger {
    ($($(#[$doc:meta])* $name:ident: $text:literal,)*) => {
        /// Counts of everything, for the report.
        #[derive(Debug, Default)]
        pub(crate) struct Ledger {
            $($(#[$doc])* pub(crate) $name: AtomicU64,)*
        }

        impl Ledger {
            const fn new() -> Self {
                Self { $($name: AtomicU64::new(0),)* }
            }
        }

        impl fmt::Display for Ledger {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(writeln!(f, "{:>14}  {}", self.$name.load(Relaxed), $text)?;)*
                Ok(())
            }
        }
    };
}

ledger! {
    rounds: "rounds",
    runtimes: "runtimes begun and ended",
    loops: "manual loops begun and ended",
    tasks: "tasks spawned, each ended once",
    completed: "  of them ran to their end",
    panicked: "  panicked",
    cancelled: "  were aborted, or ended with their runtime",
    abandoned: "futures dropped at an await, and begun again",
    bytes: "bytes that came back as they were sent",
    datagrams: "datagrams that came back as they were sent",
    connections: "TCP connections",
    timers: "timers, none of them early",
    wakers: "calls of wakers that block, and may throw",
    virtual_hours: "hours of virtual time",
    computations: "computations, with the right result",
    blocking: "closures on blocking threads",
    stuck: "workers blocked inside a poll",
    signals: "events, messages and permits handed over",
    requests: "requests answered by servers that were drained",
}

/// The one ledger.
pub(crate) static LEDGER: Ledger = Ledger::new();

/// Adds to a count of the [`LEDGER`].
pub(crate) fn count(place: &AtomicU64, number: usize) {
    place.fetch_add(number as u64, Relaxed);
}

static SEED: AtomicU64 = AtomicU64::new(0);
static ROUND: AtomicU64 = AtomicU64::new(0);

/// Notes which round begins, for [`fail`].
pub(crate) fn begin(seed: u64, round: u64) {
    SEED.store(seed, Relaxed);
    ROUND.store(round, Relaxed);
}

/// Ends the process, with what is wrong and how to come back to it.
pub(crate) fn fail(what: &str) -> ! {
    eprintln!("soak: {what}");
    eprintln!(
        "in round {round} of seed {seed}: scripts/soak 1 {seed} {round}",
        round = ROUND.load(Relaxed),
        seed = SEED.load(Relaxed)
    );
    eprintln!("so far:\n{LEDGER}{}", Backtrace::force_capture());
    std::process::abort();
}

/// Waits until `done` says so, or ends the process with what `otherwise` tells.
pub(crate) fn wait_until(mut done: impl FnMut() -> bool, otherwise: impl FnOnce() -> String) {
    let start = awake::now();
    while !done() {
        if awake::since(start) > PATIENCE {
            fail(&otherwise());
        }
        thread::sleep(Duration::from_micros(500));
    }
}
