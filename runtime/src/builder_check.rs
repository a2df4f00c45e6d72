//! Checks the settings of a builder, and works out the defaults that depend on the machine.

use std::{fmt, io};

use crate::builder::Builder;
use crate::cpus;
use crate::fork::policy::{NEXT_JOB, OFFER_AGE};
use crate::observe;
use crate::sched::policy::{self, GUESTS, MAX_WORKERS, MIN_STUCK_AFTER, SPARES, STACK_BYTES};
use crate::sched::{Config, MOST_WORKERS};
use crate::stuck;

impl Builder {
    /// Returns the configuration for these settings, or `InvalidInput` with advice.
    pub(crate) fn check(self) -> io::Result<Config> {
        let (workers, cpus) = match self.workers {
            Some(workers) => (workers, cpus::last_count()),
            None => {
                let cpus = cpus::count();
                (workers_from_environment()?.unwrap_or(cpus.min(MAX_WORKERS)), cpus)
            }
        };
        let spares = self.max_spares.unwrap_or(workers.clamp(SPARES.0, SPARES.1));
        check(
            (1..=MAX_WORKERS).contains(&workers),
            format_args!(
                "{workers} workers: a runtime needs between 1 and {MAX_WORKERS}; leave `workers` \
                 out to have one for each CPU"
            ),
        )?;
        check(
            spares <= MOST_WORKERS - MAX_WORKERS,
            format_args!("max_spares of {spares}: at most {}", MOST_WORKERS - MAX_WORKERS),
        )?;
        check(
            self.stack_size.is_none_or(|bytes| (STACK_BYTES.0..=STACK_BYTES.1).contains(&bytes)),
            format_args!(
                "a stack of {} bytes: give between {} KiB and 1 TiB, or leave `stack_size` out",
                self.stack_size.unwrap_or_default(),
                STACK_BYTES.0 >> 10,
            ),
        )?;
        check(
            self.max_blocking > 0,
            format_args!("max_blocking of 0: `spawn_blocking` and name look-ups need at least 1"),
        )?;
        check(
            self.stuck_after >= MIN_STUCK_AFTER,
            format_args!(
                "stuck_after of {:?}: give at least {MIN_STUCK_AFTER:?}; to switch spare workers \
                 off, use `max_spares(0)`",
                self.stuck_after
            ),
        )?;
        check(
            (1..=99).contains(&self.compute_share),
            format_args!("compute_share of {} %: give between 1 and 99", self.compute_share),
        )?;
        check(
            !self.thread_name.contains('\0'),
            format_args!("thread_name contains a NUL character, which no thread's name may have"),
        )?;
        let long_polls = stuck::check(self.long_polls)?;
        let flight_recorder = observe::check_recorder(self.flight_recorder)?;
        if let Some(dumps) = &self.flight_dumps {
            dumps.check(self.observe)?;
        }
        Ok(Config {
            workers,
            spares,
            guests: workers.clamp(GUESTS.0, GUESTS.1),
            searchers: policy::searchers(workers),
            awake_to_spin: if workers <= cpus { cpus - 1 } else { 0 },
            cpus,
            stuck_after: self.stuck_after,
            next_job: Some(NEXT_JOB),
            offer_age: OFFER_AGE,
            compute_share: self.compute_share,
            max_blocking: self.max_blocking,
            blocking_keep_alive: self.blocking_keep_alive,
            thread_name: self.thread_name,
            stack_size: self.stack_size,
            hooks: self.hooks,
            long_polls,
            observe: self.observe,
            flight_recorder,
            flight_dumps: self.flight_dumps,
            spawner: self.spawner,
        })
    }
}

/// Returns `InvalidInput` with a message unless a setting is good.
pub(crate) fn check(good: bool, message: fmt::Arguments<'_>) -> io::Result<()> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, message.to_string());
    if good { Ok(()) } else { Err(invalid()) }
}

/// The environment variable that sets the default number of workers.
pub(crate) const WORKERS_VARIABLE: &str = "WINDLASS_WORKERS";

/// Reads the number of workers from the environment, if it is set there.
fn workers_from_environment() -> io::Result<Option<usize>> {
    let Some(value) = std::env::var_os(WORKERS_VARIABLE) else {
        return Ok(None);
    };
    let parsed = value.to_str().and_then(|text| text.trim().parse().ok());
    check(
        parsed.is_some(),
        format_args!(
            "the environment variable {WORKERS_VARIABLE} is {value:?}, which is not a number"
        ),
    )?;
    Ok(parsed)
}
