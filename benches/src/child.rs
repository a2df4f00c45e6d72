//! The side that measures: `child`, one run for a parent that reads its line, and `one`, the same
//! for a person with a profiler.

use std::time::Duration;

use crate::cli::Single;
use crate::measure::Metrics;
use crate::support::sys;
use crate::usage::Usage;

/// Some workloads measure for longer than they are told, but not for more than this many times as long.
const AT_MOST: u32 = 4;

/// A run that takes this much longer hangs.
const GRACE: Duration = Duration::from_secs(30);

/// Runs once and prints one line of JSON: the workload's metrics and what the process has used.
pub(crate) fn child(asked: &Single) -> Result<(), String> {
    sys::end_after(asked.budget.warm_up + AT_MOST * asked.budget.time + GRACE);
    println!("{}", measure(asked).to_json());
    Ok(())
}

/// Runs for as long as asked for and prints the metrics to be read.
pub(crate) fn one(asked: &Single) -> Result<(), String> {
    for (name, value) in measure(asked).iter() {
        println!("{name:<28} {value:>16.2}");
    }
    Ok(())
}

fn measure(asked: &Single) -> Metrics {
    let run = asked.workload.run_of(&asked.peer).expect("the command line has checked it");
    let metrics = run(&asked.budget);
    let used = Usage::now();
    metrics
        .with("process_user_ms", used.user.as_secs_f64() * 1e3)
        .with("process_system_ms", used.system.as_secs_f64() * 1e3)
        .with("process_max_rss_kib", used.max_rss_kib as f64)
        .with("process_voluntary_switches", used.voluntary_switches as f64)
        .with("process_involuntary_switches", used.involuntary_switches as f64)
}
