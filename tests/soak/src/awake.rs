//! A clock that stands still while the process does.
//!
//! A process that is stopped, or starved by others, is not one that hangs. So whatever takes too
//! long is measured with this clock, which a thread moves: by the time that has passed since it
//! last ran, and by no more than [`STEP`].

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// How often the clock is moved.
const TICK: Duration = Duration::from_millis(10);

/// How far it moves at most at a time.
const STEP: Duration = Duration::from_millis(50);

/// Nanoseconds since [`start`].
static NOW: AtomicU64 = AtomicU64::new(0);

/// Starts the clock.
pub(crate) fn start() {
    thread::spawn(|| {
        let mut last = Instant::now();
        loop {
            thread::sleep(TICK);
            let passed = last.elapsed();
            last += passed;
            NOW.fetch_add(passed.min(STEP).as_nanos() as u64, Relaxed);
        }
    });
}

/// How long the process has run.
pub(crate) fn now() -> Duration {
    Duration::from_nanos(NOW.load(Relaxed))
}

/// How long the process has run since [`now`] returned `then`.
pub(crate) fn since(then: Duration) -> Duration {
    now() - then
}
