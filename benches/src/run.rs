//! The side that commands: interleaved rounds of child processes, and their results saved.

use std::collections::HashMap;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::Run;
use crate::measure::Budget;
use crate::progress::Progress;
use crate::report;
use crate::results::{Results, Writer};
use crate::stats::median;
use crate::support::quota::{self, Quota};
use crate::usage::{Usage, machine_cpu};
use crate::workloads::Workload;
use crate::workloads::crowd::{Cell, Neighbours};
use crate::workloads::requests::open;

/// Measures what was asked for, then prints the report.
pub(crate) fn run(asked: &Run) -> Result<(), String> {
    if cfg!(debug_assertions) {
        eprintln!("warning: not an optimised build; use `cargo run --release`");
    }
    let (wanted, skipped) = possible(&asked.workloads);
    let mut writer = Writer::create(&described(asked, &skipped))?;
    let jobs = wanted
        .iter()
        .flat_map(|workload| workload.peers_among(&asked.peers).map(|peer| (workload.name, peer)));
    let mut progress = Progress::new(jobs.collect(), asked.rounds);
    skipped.iter().for_each(|why| progress.note(&format!("left out: {why}")));

    let mut capacities = Capacities::default();
    let began = Instant::now();
    for round in 0..asked.rounds {
        if round > 0 && asked.limit.is_some_and(|limit| with_one_more(began, round) > limit) {
            progress.note(&format!(
                "no time for more than {round} rounds: the machine is slow or busy"
            ));
            break;
        }
        for workload in &wanted {
            let mut peers: Vec<&str> = workload.peers_among(&asked.peers).collect();
            // Who comes first changes, so that nobody always follows the same neighbour.
            let first = round % peers.len();
            peers.rotate_left(first);
            for peer in peers {
                progress.begin(round, workload.name, peer);
                let began = Instant::now();
                let tries = if asked.limit.is_some() { 1 } else { MOST_TRIES };
                let sample = capacities
                    .budget_for(workload.name, &asked.budget)
                    .and_then(|budget| least_disturbed(workload.name, peer, &budget, tries));
                match sample {
                    Ok(metrics) => writer.sample(round, workload.name, peer, metrics)?,
                    Err(why) => {
                        progress.note(&format!("{} on {peer} failed: {why}", workload.name));
                        writer.failure(round, workload.name, peer, &why)?;
                    }
                }
                progress.end(workload.name, peer, began.elapsed());
            }
        }
    }
    progress.finish();

    let path = writer.path().to_string_lossy().into_owned();
    print!("{}", report::markdown(&Results::read(Some(&path))?));
    eprintln!("saved as {path}");
    Ok(())
}

/// What tokio can serve, measured when first asked for and the same for the whole run.
#[derive(Default)]
struct Capacities(HashMap<&'static str, f64>);

impl Capacities {
    /// The budget of a workload, with the capacity that its rate is a share of, if it has one.
    fn budget_for(&mut self, workload: &str, budget: &Budget) -> Result<Budget, String> {
        let Some((name, metric)) = open::capacity_of(workload) else { return Ok(*budget) };
        let capacity = match self.0.get(name) {
            Some(known) => *known,
            None => {
                let once = || {
                    let metrics = measured(name, "tokio", budget)?;
                    metrics[metric].as_f64().ok_or_else(|| "no capacity was measured".to_owned())
                };
                let several = [once()?, once()?, once()?];
                *self.0.entry(name).or_insert(median(&several))
            }
        };
        Ok(Budget { capacity: Some(capacity), ..*budget })
    }
}

/// The workloads that can run here, and what cannot, with the reason.
fn possible(asked: &[&'static Workload]) -> (Vec<&'static Workload>, Vec<String>) {
    let limited = |workload: &&Workload| {
        let cell = Cell::of(workload.name);
        cell.is_some_and(|cell| cell.neighbours == Neighbours::Quota)
    };
    if !asked.iter().any(limited) {
        return (asked.to_vec(), Vec::new());
    }
    match Quota::possible() {
        Ok(()) => (asked.to_vec(), Vec::new()),
        Err(why) => {
            let wanted = asked.iter().copied().filter(|workload| !limited(workload)).collect();
            (wanted, vec![format!("a server with a quota of 1 CPU: {why}")])
        }
    }
}

/// How long all rounds will have taken after the next one.
fn with_one_more(began: Instant, rounds: usize) -> Duration {
    began.elapsed().mul_f64((rounds + 1) as f64 / rounds as f64)
}

/// The metric that says how much of the machine somebody else used during a run.
pub(crate) const OTHERS: &str = "others_share";

/// A share of the machine from which on others disturb the figures.
pub(crate) const BUSY: f64 = 0.05;

/// How often a child runs at most to get one sample.
const MOST_TRIES: usize = 3;

/// The metrics of one child, run again if others used the machine meanwhile: of all tries, the one in which they used
/// it least.
fn least_disturbed(
    workload: &str,
    peer: &str,
    budget: &Budget,
    tries: usize,
) -> Result<Value, String> {
    let mut least: Option<(f64, Value)> = None;
    for _ in 0..tries {
        let began = Instant::now();
        let watch = Watch::start();
        let mut metrics = measured(workload, peer, budget)?;
        let others = watch.others();
        metrics[OTHERS] = json!(others);
        metrics["child_seconds"] = json!(began.elapsed().as_secs_f64());
        if least.as_ref().is_none_or(|(share, _)| others < *share) {
            least = Some((others, metrics));
        }
        if others <= BUSY {
            break;
        }
    }
    least.map(|(_, metrics)| metrics).ok_or_else(|| "was not tried".to_owned())
}

/// Watches who uses the machine while a child runs.
struct Watch {
    began: Instant,
    machine: Duration,
    children: Duration,
}

impl Watch {
    fn start() -> Watch {
        Watch {
            began: Instant::now(),
            machine: machine_cpu(),
            children: Usage::of_children().cpu(),
        }
    }

    /// The share of all cores that went neither to the child nor idle.
    fn others(&self) -> f64 {
        let machine = machine_cpu().saturating_sub(self.machine);
        let child = Usage::of_children().cpu().saturating_sub(self.children);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let all = self.began.elapsed().as_secs_f64() * cores as f64;
        machine.saturating_sub(child).as_secs_f64() / all
    }
}

/// Runs one child and returns the metrics that it printed.
fn measured(workload: &str, peer: &str, budget: &Budget) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|why| format!("own path: {why}"))?;
    let capacity = budget.capacity.map(|capacity| ["--capacity".to_owned(), capacity.to_string()]);
    let started = Command::new(program)
        .args(["child", workload, peer])
        .args(capacity.iter().flatten())
        .args(["--warm-up", &budget.warm_up.as_millis().to_string()])
        .args(["--time", &budget.time.as_millis().to_string()])
        .args(["--passes", &budget.fewest_passes.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|why| format!("cannot start a child: {why}"))?;
    let id = started.id();
    let child = started.wait_with_output().map_err(|why| format!("a child: {why}"))?;
    quota::sweep(id);
    if !child.status.success() {
        let said = String::from_utf8_lossy(&child.stderr);
        return Err(format!("{} {}", ending(child.status), said.trim()).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&child.stdout);
    let line = said.lines().last().unwrap_or("");
    match serde_json::from_str(line) {
        Ok(metrics @ Value::Object(_)) => Ok(metrics),
        _ => Err(format!("no figures in `{line}`")),
    }
}

fn ending(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGALRM) => "hung, and was ended.".to_owned(),
        _ => format!("{status}."),
    }
}

/// What was asked for, as the second line of the result file.
fn described(asked: &Run, skipped: &[String]) -> Value {
    let workloads: Vec<&str> = asked.workloads.iter().map(|workload| workload.name).collect();
    json!({
        "kind": "asked",
        "rounds": asked.rounds,
        "warm_up_ms": asked.budget.warm_up.as_millis() as u64,
        "time_ms": asked.budget.time.as_millis() as u64,
        "workloads": workloads,
        "peers": asked.peers,
        "skipped": skipped,
    })
}
