//! A timer that is awaited again and again: prints how late each of five expirations was.
//!
//! ```sh
//! cargo run --example timers -- [milliseconds]
//! ```

use std::time::{Duration, Instant};

use windlass::timer::Timer;

#[windlass::main]
async fn main() {
    let millis = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200);
    let mut timer = Timer::new(Duration::from_millis(millis));
    for number in 1..=5 {
        let start = Instant::now();
        // Armed now, not when it was made.
        (&mut timer).await;
        let late = start.elapsed() - timer.duration();
        println!("expiration {number} after {:?}, late by {late:?}", timer.duration());
    }
}
