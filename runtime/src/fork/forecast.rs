//! A forecast of whether a computation is worth a second worker from its first join on. It is if the last one was.
//!
//! Waking a worker costs some 30 µs. A computation that is over by then gains nothing. So usually no worker is woken
//! until the computation has lasted for a while, and its other half starts late. Programs compute the same thing again
//! and again, though: a step of a simulation, an answer to a request. So each pool remembers whether its last
//! computation took long.

use std::time::Duration;

use super::policy::LONG_LAST_TIME;
use crate::primitives::plain::{AtomicBool, Ordering};

/// The expectation for a pool's next computation. Orders nothing: a wrong guess costs one wake-up.
pub(crate) struct Forecast(AtomicBool);

impl Forecast {
    pub(crate) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Notes how long a whole computation took.
    pub(super) fn took(&self, time: Duration) {
        let long = time >= LONG_LAST_TIME;
        // Read first, because mostly it stays as it is, and all workers read it.
        if self.0.load(Ordering::Relaxed) != long {
            self.0.store(long, Ordering::Relaxed);
        }
    }

    /// Returns true if the next computation is expected to take long.
    pub(super) fn is_long(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_next_is_expected_to_be_as_the_last() {
        let forecast = Forecast::new();
        assert!(!forecast.is_long(), "nothing is known");
        forecast.took(LONG_LAST_TIME);
        assert!(forecast.is_long());
        forecast.took(LONG_LAST_TIME / 2);
        assert!(!forecast.is_long());
    }
}
