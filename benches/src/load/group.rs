//! Some load processes that work on one server at the same time.

use super::outcome::Outcome;
use super::{Job, Load, READY};
use crate::measure::Metrics;

/// Loads that have connected, or are about to.
pub(crate) struct Loads(Vec<Load>);

impl Loads {
    /// Starts one process.
    pub(crate) fn one(job: &Job) -> Loads {
        Loads::start(job, 1)
    }

    /// Starts some processes, each with its part of the connections.
    pub(crate) fn start(job: &Job, processes: usize) -> Loads {
        Loads(parts(job, processes).iter().map(Load::start).collect())
    }

    /// The ids of the processes.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(Load::id)
    }

    /// Waits until the connections of all of them stand; then does something, and has all begin.
    pub(crate) fn figures_after(mut self, prepare: impl FnOnce()) -> Metrics {
        for load in &mut self.0 {
            let word = load.hear();
            assert_eq!(word, READY, "the load process says something else");
        }
        prepare();
        for load in &mut self.0 {
            load.tell("go");
        }
        let mut outcomes = Vec::with_capacity(self.0.len());
        for load in &mut self.0 {
            let line = load.hear();
            let outcome = Outcome::from_line(&line);
            outcomes.push(outcome.unwrap_or_else(|| panic!("no figures in `{line}`")));
        }
        self.0.into_iter().for_each(Load::finish);
        Outcome::figures(&outcomes)
    }

    /// Waits for the figures of all of them together.
    pub(crate) fn figures(self) -> Metrics {
        self.figures_after(|| {})
    }
}

/// The same job for each process, but for the number of its connections.
fn parts(job: &Job, processes: usize) -> Vec<Job> {
    let Job::Ask(asked) = *job else { return vec![*job; processes] };
    assert!(asked.connections >= processes, "a load without a connection");
    let each = |place: usize| {
        let connections =
            asked.connections / processes + usize::from(place < asked.connections % processes);
        Job::Ask(super::Ask { connections, ..asked })
    };
    (0..processes).map(each).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::load::Ask;
    use crate::service::Kind;

    #[test]
    fn connections_are_dealt_out_evenly() {
        let address = "127.0.0.1:7".parse().unwrap();
        let zero = Duration::ZERO;
        let job = Job::Ask(Ask::closed(address, Kind::Echo, 10, zero, zero));
        let dealt = |processes| {
            let connections = |job: Job| match job {
                Job::Ask(asked) => asked.connections,
                _ => 0,
            };
            parts(&job, processes).into_iter().map(connections).collect::<Vec<_>>()
        };
        assert_eq!(dealt(1), [10]);
        assert_eq!(dealt(2), [5, 5]);
        assert_eq!(dealt(4), [3, 3, 2, 2]);
    }
}
