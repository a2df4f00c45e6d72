//! Counts the instructions of the hot paths under callgrind and holds them against recorded counts.
//!
//! Times can't be checked by a machine: they differ by a tenth from run to run and by a factor from
//! machine to machine. Instructions can. A path that takes 3 % more of them than it did
//! is slower everywhere, if only by that much, and somebody should have wanted it.
//!
//! Each path is a program of its own ([`paths`]), run with N operations and with 2 N. The difference is
//! N operations and nothing else: no start, no warm-up, no end. Only the busiest thread counts.
//!
//! What can't be seen this way: cache misses, waiting, and what the kernel does.

mod baseline;
mod baton;
mod clock;
mod count;
mod paths;

use std::process::ExitCode;

use baseline::{Baseline, Verdict};
use paths::{PATHS, Path};

const USAGE: &str = "\
usage: windlass-instructions <command>

  check [PATH...]       count, and compare with the recorded counts; fails where there are more
  record                count, and write the counts down as the ones to compare with
  observing [PATH...]   count without observation and with it; compares with nothing that is recorded
  list                  the paths
";

/// The commands that run a path.
const RUN: &str = "run";
const RUN_UNOBSERVED: &str = "run-unobserved";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["check", names @ ..] => chosen(names).and_then(|paths| check(&paths)),
        ["record"] => record(),
        ["observing", names @ ..] => chosen(names).and_then(|paths| observing(&paths)),
        ["list"] => {
            PATHS.iter().for_each(|path| println!("{:<16} {}", path.name, path.about));
            Ok(())
        }
        // Not in the usage: what is run under callgrind.
        [RUN, name, times] => run(name, times),
        [RUN_UNOBSERVED, name, times] => {
            paths::observe_nothing();
            run(name, times)
        }
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn run(name: &str, times: &str) -> Result<(), String> {
    let path = *chosen(&[name])?.first().ok_or("name a path")?;
    let times = times.parse().map_err(|_| format!("`{times}` is no number"))?;
    (path.run)(times);
    Ok(())
}

fn chosen(names: &[&str]) -> Result<Vec<&'static Path>, String> {
    if names.is_empty() {
        return Ok(PATHS.iter().collect());
    }
    let find = |name: &&str| {
        let path = PATHS.iter().find(|path| path.name == *name);
        path.ok_or_else(|| format!("there is no path `{name}` (see `list`)"))
    };
    names.iter().map(find).collect()
}

fn record() -> Result<(), String> {
    let mut baseline = Baseline::new();
    for path in PATHS {
        let count = fewest(path, RUN)?;
        println!("{:<16} {count:>9.1}", path.name);
        baseline.set(path.name, count);
    }
    println!("recorded in {}", baseline.write()?);
    Ok(())
}

/// Once in a while the runtime's second thread interferes, and then there is more to count, never less. So
/// a count that is too high is taken again.
const ATTEMPTS: usize = 3;

/// How often a count that is more than was recorded is taken again before it is believed: a crowded machine has the
/// second thread interfere more often than not.
const DOUBTS: usize = 10;

fn fewest(path: &Path, how: &str) -> Result<f64, String> {
    let counts = (0..ATTEMPTS).map(|_| count::per_operation(path, how));
    counts.reduce(|fewest, count| Ok(fewest?.min(count?))).expect("several")
}

/// Prints what the scheduler's notes about itself take, and what it would take without.
fn observing(paths: &[&Path]) -> Result<(), String> {
    println!("{:<16} {:>9} {:>9}", "instructions", "without", "with");
    for path in paths {
        let (without, with) = (fewest(path, RUN_UNOBSERVED)?, fewest(path, RUN)?);
        let (more, times) = (with - without, without / with);
        println!("{:<16} {without:>9.1} {with:>9.1} {more:>+7.1}  ({times:.3})", path.name);
    }
    Ok(())
}

fn judged(path: &Path, recorded: f64) -> Result<(f64, Verdict), String> {
    let mut now = f64::INFINITY;
    for _ in 0..DOUBTS {
        now = now.min(count::per_operation(path, RUN)?);
        if baseline::judge(recorded, now) != Verdict::Worse {
            break;
        }
    }
    Ok((now, baseline::judge(recorded, now)))
}

fn check(paths: &[&Path]) -> Result<(), String> {
    let Some(baseline) = Baseline::read()? else {
        println!("{}", baseline::unknown());
        return Ok(());
    };
    let mut worse = Vec::new();
    println!("{:<16} {:>9} {:>9}", "instructions", "recorded", "now");
    for path in paths {
        let Some(recorded) = baseline.get(path.name) else {
            println!("{:<16} {:>9}   (not recorded: scripts/instructions record)", path.name, "-");
            continue;
        };
        let (now, verdict) = judged(path, recorded)?;
        let more = 100.0 * (now / recorded - 1.0);
        println!("{:<16} {recorded:>9.1} {now:>9.1} {more:>+7.1} %  {verdict}", path.name);
        if verdict == Verdict::Worse {
            worse.push(path.name);
        }
    }
    if worse.is_empty() {
        return Ok(());
    }
    Err(format!(
        "error: more instructions than recorded: {}\n\
         If that is the price of something wanted, say so in the commit and record the new counts:\n\
         scripts/instructions record",
        worse.join(", ")
    ))
}
