//! The side that commands: interleaved rounds of child processes, and their results saved.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::Instant;

use serde_json::{Value, json};

use crate::cli::Run;
use crate::measure::Budget;
use crate::progress::Progress;
use crate::report;
use crate::results::{Results, Writer};

/// Measures what was asked for, then prints the report.
pub(crate) fn run(asked: &Run) -> Result<(), String> {
    if cfg!(debug_assertions) {
        eprintln!("warning: not an optimised build; use `cargo run --release`");
    }
    let mut writer = Writer::create(&described(asked))?;
    let jobs = asked
        .workloads
        .iter()
        .flat_map(|workload| workload.peers_among(&asked.peers).map(|peer| (workload.name, peer)));
    let mut progress = Progress::new(jobs.collect(), asked.rounds);

    for round in 0..asked.rounds {
        for workload in &asked.workloads {
            let mut peers: Vec<&str> = workload.peers_among(&asked.peers).collect();
            // Who comes first changes, so that nobody always follows the same neighbour.
            let first = round % peers.len();
            peers.rotate_left(first);
            for peer in peers {
                progress.begin(round, workload.name, peer);
                let began = Instant::now();
                match measured(workload.name, peer, &asked.budget) {
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

/// Runs one child and returns the metrics that it printed.
fn measured(workload: &str, peer: &str, budget: &Budget) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|why| format!("own path: {why}"))?;
    let child = Command::new(program)
        .args(["child", workload, peer])
        .args(["--warm-up", &budget.warm_up.as_millis().to_string()])
        .args(["--time", &budget.time.as_millis().to_string()])
        .output()
        .map_err(|why| format!("cannot start a child: {why}"))?;
    if !child.status.success() {
        let said = String::from_utf8_lossy(&child.stderr);
        return Err(format!("{} {}", ending(child.status), said.trim()).trim().to_owned());
    }
    let said = String::from_utf8_lossy(&child.stdout);
    let line = said.lines().last().unwrap_or("");
    serde_json::from_str(line).map_err(|why| format!("no figures in `{line}`: {why}"))
}

fn ending(status: ExitStatus) -> String {
    match status.signal() {
        Some(libc::SIGALRM) => "hung, and was ended.".to_owned(),
        _ => format!("{status}."),
    }
}

/// What was asked for, as the second line of the result file.
fn described(asked: &Run) -> Value {
    let workloads: Vec<&str> = asked.workloads.iter().map(|workload| workload.name).collect();
    json!({
        "kind": "asked",
        "rounds": asked.rounds,
        "warm_up_ms": asked.budget.warm_up.as_millis() as u64,
        "time_ms": asked.budget.time.as_millis() as u64,
        "workloads": workloads,
        "peers": asked.peers,
    })
}
