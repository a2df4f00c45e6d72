//! Awaits one timer repeatedly, and prints how late each of five expirations was.
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
        // The timer is armed now, not when it was created.
        (&mut timer).await;
        let late = start.elapsed() - timer.duration();
        println!("expiration {number} after {:?}, late by {late:?}", timer.duration());
    }
}
