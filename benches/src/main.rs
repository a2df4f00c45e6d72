//! Benchmarks of windlass beside its peers.
//!
//! `run` starts one child process per (workload, peer) and round, so that CPU time and memory are
//! clean, and interleaves the rounds, so that a slow minute of the machine hits every peer alike.
//! `report` turns a saved run into Markdown tables and `plot` into charts. `one` repeats a single workload in this
//! process, for a profiler to look at.
//!
//! A workload is one file in `workloads/`, a peer one file in `peers/`; the `mod.rs` of each says
//! how to add one. Nothing here judges an absolute time: only ratios within a round count.

mod alloc;
mod child;
mod cli;
mod load;
mod machine;
mod measure;
mod peers;
mod plot;
mod progress;
mod report;
mod results;
mod run;
mod service;
mod stats;
mod support;
mod usage;
mod verdict;
mod workloads;

use std::process::ExitCode;

use cli::Command;

#[global_allocator]
static HEAP: alloc::Counting = alloc::Counting;

fn main() -> ExitCode {
    // SAFETY: no other thread exists yet, so nobody reads the environment meanwhile.
    unsafe { std::env::set_var("SMOL_THREADS", peers::WORKERS.to_string()) };

    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match cli::parse(&args) {
        Ok(Command::Run(options)) => run::run(&options),
        Ok(Command::Report(saved)) => report::from_file(saved.file.as_deref(), saved.to.as_deref()),
        Ok(Command::Plot(saved)) => plot::from_file(saved.file.as_deref(), saved.to.as_deref()),
        Ok(Command::One(options)) => child::one(&options),
        Ok(Command::Child(options)) => child::child(&options),
        Ok(Command::Load(job)) => load::run(&job),
        Ok(Command::List) => {
            print!("{}", cli::list());
            Ok(())
        }
        Ok(Command::Help) => {
            print!("{}", cli::USAGE);
            Ok(())
        }
        Err(wrong) => Err(format!("{wrong}\n\n{}", cli::USAGE)),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
