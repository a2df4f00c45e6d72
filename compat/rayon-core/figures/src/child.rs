//! One kernel in a process of its own: repeated for a time, and its figures said.

use std::time::{Duration, Instant};

use crate::{Peer, kernels, mixed};

/// The least number of passes that count, however long they take.
const FEWEST: usize = 3;

/// Runs a kernel for some milliseconds, and prints a line `name value` for each of its figures.
pub(crate) fn run(peer: &Peer, name: &str, millis: &str) -> Result<(), String> {
    let millis = millis.parse().map_err(|_| format!("{millis} is no number of milliseconds"))?;
    let time = Duration::from_millis(millis);
    if name == mixed::NAME {
        return mixed::run(peer, time);
    }
    let kernel = kernels::ALL.iter().find(|kernel| kernel.name == name);
    let kernel = kernel.ok_or_else(|| format!("there is no kernel called {name}"))?;
    println!("time {}", measure((kernel.prepare)(), time).as_secs_f64() * 1e3);
    Ok(())
}

/// The median time of a pass.
fn measure(mut pass: Box<dyn FnMut() -> Duration>, time: Duration) -> Duration {
    // Caches, pages and threads: a tenth of the time, once at least.
    let warm = Instant::now();
    while {
        pass();
        warm.elapsed() < time / 10
    } {}
    let mut times = Vec::new();
    let began = Instant::now();
    while times.len() < FEWEST || began.elapsed() < time {
        times.push(pass());
    }
    times.sort_unstable();
    times[times.len() / 2]
}
