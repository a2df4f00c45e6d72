//! The errors of `accept`: counted, and reported.

use std::io;
use std::mem;
use std::panic::Location;
use std::time::Instant;

use windlass_runtime::serving;
use windlass_runtime::timer::now;

use crate::policy::REPORT_INTERVAL;

/// Is called for each of them, instead of a report.
pub(crate) type Hook = Box<dyn Fn(&io::Error) + Send + Sync>;

/// The errors of `accept` that one server has seen.
pub(crate) struct AcceptErrors {
    hook: Option<Hook>,
    /// Where the server was started.
    location: &'static Location<'static>,
    count: u64,
    reported: Option<Instant>,
    /// Since the last report.
    left_out: u64,
}

impl AcceptErrors {
    pub(crate) fn new(hook: Option<Hook>, location: &'static Location<'static>) -> Self {
        Self { hook, location, count: 0, reported: None, left_out: 0 }
    }

    pub(crate) fn note(&mut self, error: &io::Error) {
        self.count += 1;
        if let Some(hook) = &self.hook {
            return hook(error);
        }
        if let Some(left_out) = self.due(now()) {
            serving::accept_failed(error, self.location, left_out);
        }
    }

    /// Returns how many errors were left out since the last report if another one is due.
    fn due(&mut self, now: Instant) -> Option<u64> {
        let is_early = |last| now.saturating_duration_since(last) < REPORT_INTERVAL;
        if self.reported.is_some_and(is_early) {
            self.left_out += 1;
            return None;
        }
        self.reported = Some(now);
        Some(mem::take(&mut self.left_out))
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_second_has_one_report_and_the_next_says_what_was_left_out() {
        let mut errors = AcceptErrors::new(None, Location::caller());
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let told = [0, 1, 999, 1000, 1001, 5000].map(|millis| errors.due(at(millis)));
        assert_eq!(told, [Some(0), None, None, Some(2), None, Some(1)]);
    }
}
