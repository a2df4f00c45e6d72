//! Runs at each full second of the wall clock, even if the clock is changed meanwhile.
//!
//! ```sh
//! cargo run --example cron -- [times]
//! ```

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use windlass::timer::WallTimer;

const EVERY: Duration = Duration::from_secs(1);

/// Returns the next multiple of the period after a time of day.
fn next(after: SystemTime) -> SystemTime {
    let since = after.duration_since(UNIX_EPOCH).unwrap_or_default();
    let into = Duration::from_nanos((since.as_nanos() % EVERY.as_nanos()) as u64);
    after + (EVERY - into)
}

#[windlass::main]
async fn main() -> io::Result<()> {
    let times = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(3);
    for _ in 0..times {
        let due = next(SystemTime::now());
        // Errors of the OS, and changes of the clock, show here.
        WallTimer::at(due).await?;
        let since = due.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let late = SystemTime::now().duration_since(due).unwrap_or_default();
        println!(
            "{:02}:{:02}:{:02} UTC, late by {late:?}",
            since / 3600 % 24,
            since / 60 % 60,
            since % 60
        );
    }
    Ok(())
}
