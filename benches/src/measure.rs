//! How a workload measures itself: a budget, passes, latencies, and the metrics that come out.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::stats;
use crate::usage::Usage;

/// How long one child shall warm up and measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    pub(crate) warm_up: Duration,
    pub(crate) time: Duration,
    /// However long a pass takes, there are this many.
    pub(crate) fewest_passes: usize,
    /// What tokio can serve of this kind of request, per second, if it was measured.
    pub(crate) capacity: Option<f64>,
}

impl Budget {
    /// A median needs a few passes.
    pub(crate) const FULL: Budget = Budget {
        warm_up: Duration::from_millis(100),
        time: Duration::from_millis(400),
        fewest_passes: 3,
        capacity: None,
    };
    pub(crate) const QUICK: Budget = Budget {
        warm_up: Duration::from_millis(30),
        time: Duration::from_millis(100),
        fewest_passes: 1,
        capacity: None,
    };

    /// The usual warm-up, then `time`.
    pub(crate) const fn lasting(time: Duration) -> Budget {
        Budget { time, ..Budget::FULL }
    }
}

/// Named figures of one run. A workload's rows in the report refer to these names.
#[derive(Default)]
pub(crate) struct Metrics(Vec<(Cow<'static, str>, f64)>);

impl Metrics {
    pub(crate) fn new() -> Metrics {
        Metrics::default()
    }

    pub(crate) fn with(mut self, name: impl Into<Cow<'static, str>>, value: f64) -> Metrics {
        let name = name.into();
        debug_assert!(self.0.iter().all(|(known, _)| *known != name), "{name} given twice");
        self.0.push((name, value));
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), *value))
    }

    /// An object with a number for each name, to go from one process to another.
    pub(crate) fn to_json(&self) -> Value {
        let numbers = self.iter().map(|(name, value)| (name.to_owned(), json!(value)));
        Value::Object(numbers.collect::<Map<String, Value>>())
    }
}

/// One pass of a workload: how many operations in what time.
pub(crate) struct Pass {
    pub(crate) ops: u64,
    pub(crate) elapsed: Duration,
}

impl Pass {
    pub(crate) fn new(ops: usize, elapsed: Duration) -> Pass {
        Pass { ops: ops as u64, elapsed }
    }

    fn ns_per_op(&self) -> f64 {
        self.elapsed.as_nanos() as f64 / self.ops as f64
    }
}

/// Runs passes until the budget is used up and returns
///
/// - `ns_per_op`: the median pass, so that one pre-empted pass does not colour the run,
/// - `ns_per_op_mean`: all time over all operations,
/// - `cpu_ns_per_op`: user and system time of all threads, preparations between passes included,
/// - `switches_per_op`: context switches, likewise.
///
/// A pass takes its own time, so that it may leave its preparations out.
pub(crate) fn passes(budget: &Budget, mut pass: impl FnMut() -> Pass) -> Metrics {
    let began = Instant::now();
    loop {
        pass();
        if began.elapsed() >= budget.warm_up {
            break;
        }
    }

    let before = Usage::now();
    let began = Instant::now();
    let mut done: Vec<Pass> = Vec::new();
    while done.len() < budget.fewest_passes || began.elapsed() < budget.time {
        done.push(pass());
    }
    let after = Usage::now();

    let ops: u64 = done.iter().map(|pass| pass.ops).sum();
    let per_op = |total: f64| total / ops as f64;
    let elapsed: Duration = done.iter().map(|pass| pass.elapsed).sum();
    let switches = after.voluntary_switches - before.voluntary_switches
        + after.involuntary_switches
        - before.involuntary_switches;
    let each: Vec<f64> = done.iter().map(Pass::ns_per_op).collect();
    Metrics::new()
        .with("ns_per_op", stats::median(&each))
        .with("ns_per_op_mean", per_op(elapsed.as_nanos() as f64))
        .with("cpu_ns_per_op", per_op((after.cpu() - before.cpu()).as_nanos() as f64))
        .with("switches_per_op", per_op(switches as f64))
        .with("passes", done.len() as f64)
}

/// The usual percentiles of latencies in nanoseconds.
pub(crate) fn percentiles(latencies_ns: &[u64]) -> Metrics {
    let mut sorted: Vec<f64> = latencies_ns.iter().map(|&ns| ns as f64).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share| stats::quantile_of_sorted(&sorted, share);
    Metrics::new()
        .with("p10_ns", at(0.10))
        .with("p50_ns", at(0.50))
        .with("p90_ns", at(0.90))
        .with("p99_ns", at(0.99))
        .with("max_ns", at(1.0))
        .with("samples", sorted.len() as f64)
}
