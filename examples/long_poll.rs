//! Blocks a worker on purpose, and prints the runtime's report while the worker is still blocked. With the feature
//! `stack-traces`, on Linux, the report shows where the worker is stuck.
//!
//! ```sh
//! cargo run --example long_poll --features stack-traces
//! ```
//!
//! Programs need none of this code to get reports: a development build writes them to standard error, and any other
//! build does with `WINDLASS_LONG_POLLS=100ms` in its environment.

use std::io;
use std::sync::mpsc;
use std::time::Duration;

use windlass::{Builder, task};

/// Stands in for a driver that was not written for async code.
#[inline(never)]
fn query_of_a_blocking_driver(answer: &mpsc::Receiver<u32>) -> u32 {
    answer.recv_timeout(Duration::from_secs(10)).unwrap_or_default()
}

fn main() -> io::Result<()> {
    let (reports, reported) = mpsc::channel();
    let runtime = Builder::new()
        .workers(2)
        .report_long_polls(Duration::from_millis(50))
        .on_long_poll(move |report| drop(reports.send(report.clone())))
        .build()?;

    let (answer, query) = mpsc::channel();
    let handler = async move { query_of_a_blocking_driver(&query) };
    let request = task::Builder::new().name("GET /orders").spawn_on(handler, runtime.handle());

    // The report comes while the task is stuck, so it can still be helped.
    let report = reported.recv().map_err(io::Error::other)?;
    println!("{report}");
    answer.send(42).map_err(io::Error::other)?;
    println!("the request is answered: {}", runtime.block_on(request).map_err(io::Error::other)?);
    Ok(())
}
