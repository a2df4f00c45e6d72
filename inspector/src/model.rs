//! A snapshot of the parts of a runtime that the inspector shows.
//!
//! `collect` fills it from the runtime. The rest of this crate sees the runtime only through it.

use std::sync::Arc;
use std::time::Duration;

/// A runtime at one moment. Counters count from the start of the runtime.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// The time since the inspector was started.
    pub(crate) at: Duration,
    pub(crate) runtime: String,
    pub(crate) workers: Vec<Worker>,
    pub(crate) totals: Totals,
    /// The numbers of things that wait or are in use, by name.
    pub(crate) queues: Vec<(&'static str, u64)>,
    pub(crate) times: Vec<Times>,
    pub(crate) sites: Vec<Site>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) stuck: Vec<Stuck>,
}

/// The work that all workers have done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) spawned: u64,
    pub(crate) alive: u64,
    pub(crate) finished: u64,
    pub(crate) panicked: u64,
}

/// A worker, or a spare that has worked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Worker {
    pub(crate) index: usize,
    pub(crate) spare: bool,
    /// The task that it polls, and for how long.
    pub(crate) task: Option<InPoll>,
    /// True if that task computes.
    pub(crate) computes: bool,
    pub(crate) polls: u64,
    pub(crate) steals: u64,
    pub(crate) parks: u64,
    pub(crate) queued: u64,
    /// The time spent in polls, in fork-join, at the OS, and asleep.
    pub(crate) busy: Duration,
    pub(crate) computing: Duration,
    pub(crate) os: Duration,
    pub(crate) idle: Duration,
}

/// A task that a worker polls.
#[derive(Debug, Clone, Default)]
pub(crate) struct InPoll {
    /// The name to show.
    pub(crate) label: String,
    pub(crate) since: Duration,
}

/// The distribution of the times that something has taken.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times {
    pub(crate) name: &'static str,
    pub(crate) spread: Spread,
}

/// A histogram of times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Spread {
    /// The longest time of each bucket, in nanoseconds, and the number of times in it; shortest first.
    pub(crate) buckets: Vec<(u64, u64)>,
    pub(crate) max: Duration,
}

impl Spread {
    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum()
    }

    /// Returns the values added since an earlier state of the same histogram. Only the bucket of the largest is known.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut before = earlier.buckets.iter().copied().peekable();
        let mut buckets = Vec::with_capacity(self.buckets.len());
        for &(bound, count) in &self.buckets {
            while before.next_if(|&(other, _)| other < bound).is_some() {}
            let old = before.next_if(|&(other, _)| other == bound).map_or(0, |(_, count)| count);
            if count > old {
                buckets.push((bound, count - old));
            }
        }
        let bound = buckets.last().map_or(0, |&(bound, _)| bound);
        Self { buckets, max: self.max.min(Duration::from_nanos(bound)) }
    }

    /// Returns the number of times longer than `time`, judged by the bounds of the buckets.
    pub(crate) fn above(&self, time: Duration) -> u64 {
        let longer = |(bound, _): &&(u64, u64)| Duration::from_nanos(*bound) > time;
        self.buckets.iter().filter(longer).map(|(_, count)| count).sum()
    }

    /// Returns the time that the given part of all times does not exceed.
    pub(crate) fn quantile(&self, part: f64) -> Duration {
        let count = self.count();
        let rank = ((part * count as f64).ceil() as u64).max(1);
        let mut below = 0;
        for &(bound, here) in &self.buckets {
            below += here;
            if below >= rank {
                return Duration::from_nanos(bound).min(self.max);
            }
        }
        self.max
    }
}

/// A place in the program that spawns tasks, or the common name of those tasks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Site {
    pub(crate) name: String,
    /// True if its tasks are computations, which take long on purpose.
    pub(crate) computes: bool,
    pub(crate) spawned: u64,
    pub(crate) alive: u64,
    pub(crate) polls: u64,
    pub(crate) busy: Duration,
    pub(crate) worst: Duration,
    /// The time for which its tasks, ready to run, have waited for a worker.
    pub(crate) waited: Duration,
    /// The times of its polls, as far as they are known.
    pub(crate) spread: Spread,
}

/// The state of a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    #[default]
    Idle,
    Queued,
    /// On a thread that is not a worker.
    Outside,
    Running(usize),
}

impl State {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Queued => "queued",
            Self::Outside | Self::Running(_) => "running",
        }
    }
}

/// The kind of a row of the table of tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    #[default]
    Task,
    Closure,
    Local,
    BlockOn,
}

impl Kind {
    /// Returns a word for kinds that are out of the ordinary.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Task => "",
            Self::Closure => "closure",
            Self::Local => "local",
            Self::BlockOn => "block_on",
        }
    }
}

/// A task.
#[derive(Debug, Clone, Default)]
pub(crate) struct Task {
    pub(crate) kind: Kind,
    pub(crate) id: u64,
    pub(crate) name: Option<String>,
    pub(crate) site: Arc<str>,
    pub(crate) state: State,
    /// True if it may run for long: it computes, blocks in place, or has a thread of its own.
    pub(crate) may_last: bool,
    /// True if it is running and computes.
    pub(crate) computes: bool,
    /// How long it has been in its state: waiting, or in its poll.
    pub(crate) since: Duration,
    pub(crate) age: Duration,
    pub(crate) polls: u64,
    pub(crate) busy: Duration,
    pub(crate) waits: Waits,
}

impl Task {
    /// Returns its name, or else its site.
    pub(crate) fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.site)
    }

    /// Returns where it runs or what it waits for, unless it waits for another task.
    pub(crate) fn does(&self) -> String {
        match self.state {
            State::Idle if self.waits.joins.is_some() => String::new(),
            State::Idle if self.waits.detail.is_empty() => self.waits.kind.to_owned(),
            State::Idle => format!("{}: {}", self.waits.kind, self.waits.detail),
            State::Running(worker) => format!("runs on worker {worker}"),
            state => state.word().to_owned(),
        }
    }
}

/// The thing that an idle task waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Waits {
    /// One word by which tasks are counted: "socket", "timer".
    pub(crate) kind: &'static str,
    /// The details: which socket, which deadline.
    pub(crate) detail: String,
    /// The task or closure that it joins.
    pub(crate) joins: Option<u64>,
}

/// The kind of thing that is stuck.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum StuckIn {
    /// A task, in a poll.
    #[default]
    Poll,
    /// A computation, between two split points.
    Leaf,
    /// Closures, which wait for a thread of the blocking pool.
    BlockingPool,
}

impl StuckIn {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Leaf => "leaf",
            Self::BlockingPool => "blocking pool",
        }
    }
}

/// A poll, or something else, that takes or has taken too long.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stuck {
    pub(crate) within: StuckIn,
    pub(crate) task: Option<u64>,
    pub(crate) name: Option<String>,
    pub(crate) site: String,
    pub(crate) worker: Option<usize>,
    pub(crate) lasted: Duration,
    /// True if it has not ended.
    pub(crate) lasts: bool,
    /// What the thread is doing, the innermost call first.
    pub(crate) stack: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_bounds_of_buckets() {
        let spread = Spread {
            buckets: vec![(1_000, 50), (2_000, 49), (u64::MAX, 1)],
            max: Duration::from_micros(9),
        };
        assert_eq!(spread.quantile(0.5), Duration::from_micros(1));
        assert_eq!(spread.quantile(0.99), Duration::from_micros(2));
        assert_eq!(spread.quantile(1.0), Duration::from_micros(9));
        assert_eq!(Spread::default().quantile(0.5), Duration::ZERO);
    }

    #[test]
    fn a_difference_has_what_is_new() {
        let spread = |buckets: &[(u64, u64)]| Spread {
            buckets: buckets.to_vec(),
            max: Duration::from_nanos(90),
        };
        let earlier = spread(&[(10, 5), (30, 1), (100, 1)]);
        let now = spread(&[(10, 7), (20, 1), (30, 1), (100, 1)]);
        let new = now.since(&earlier);
        assert_eq!(new.buckets, [(10, 2), (20, 1)]);
        assert_eq!(new.max, Duration::from_nanos(20));
        assert_eq!(now.since(&now).count(), 0);
        assert_eq!(now.since(&Spread::default()), now);
    }
}
