//! The settings of a runtime, as its builder hands them to the pool.

use std::time::Duration;

use super::threads::Spawner;
use crate::hooks::Hooks;
use crate::observe::FlightDumps;

/// The settings of a runtime, checked by its builder.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) workers: usize,
    pub(crate) spares: usize,
    /// The number of slots for outside threads that take part in their fork-join calls.
    pub(crate) guests: usize,
    pub(crate) searchers: usize,
    /// A worker spins only while no more workers than this are awake: a core must be left for the threads whose answer
    /// it waits for.
    pub(crate) awake_to_spin: usize,
    /// CPUs that the process may use.
    pub(crate) cpus: usize,
    /// Percentage of its time that a worker leaves to a computation while tasks wait.
    pub(crate) compute_share: u32,
    pub(crate) stuck_after: Duration,
    /// The time for which a worker waits beside the sleepers' stack for its next job, while a spare looks after tasks.
    pub(crate) next_job: Option<Duration>,
    /// The time for which a thief watches an offer before it takes it.
    pub(crate) offer_age: Duration,
    pub(crate) max_blocking: usize,
    pub(crate) blocking_keep_alive: Duration,
    pub(crate) thread_name: String,
    pub(crate) stack_size: Option<usize>,
    pub(crate) hooks: Hooks,
    /// The time after which a poll is reported, if it is.
    pub(crate) long_polls: Option<Duration>,
    /// Observes more than plain counters.
    pub(crate) observe: bool,
    /// Records each poll.
    pub(crate) flight_recorder: bool,
    /// The settings of automatic dumps of the flight record.
    pub(crate) flight_dumps: Option<FlightDumps>,
    /// Starts the workers' threads, if the program does that itself.
    pub(crate) spawner: Option<Spawner>,
}

#[cfg(any(loom, test))]
impl Config {
    /// Returns the settings of a pool without spares, guests or observation, for models and unit tests.
    pub(crate) fn bare(workers: usize) -> Self {
        Self {
            workers,
            spares: 0,
            guests: 0,
            searchers: (workers / 2).max(1),
            awake_to_spin: 0,
            // One for a guest too.
            cpus: workers + 1,
            compute_share: 50,
            stuck_after: Duration::ZERO,
            next_job: None,
            // Offers are taken at once.
            offer_age: Duration::ZERO,
            max_blocking: 1,
            blocking_keep_alive: Duration::ZERO,
            thread_name: String::new(),
            stack_size: None,
            hooks: Hooks::default(),
            long_polls: None,
            observe: false,
            flight_recorder: false,
            flight_dumps: None,
            spawner: None,
        }
    }
}
