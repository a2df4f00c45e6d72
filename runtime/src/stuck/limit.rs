//! Limits how often the same thing is reported.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::time::Instant;

use super::policy::{REMEMBERED_REPORTS, REPORT_EVERY};

/// The time at which each thing was last reported.
pub(super) struct Limit<K>(HashMap<K, Told>);

struct Told {
    last: Instant,
    left_out: u64,
}

impl<K: Hash + Eq> Limit<K> {
    pub(super) fn new() -> Self {
        Self(HashMap::new())
    }

    /// Remembers a thing. Returns true if it was not remembered before.
    pub(super) fn remember(&mut self, thing: K, now: Instant) -> bool {
        let is_new = !self.0.contains_key(&thing);
        is_new && self.admit(thing, now).is_some()
    }

    /// If it may be reported now, returns how often it was left out since the last report.
    pub(super) fn admit(&mut self, thing: K, now: Instant) -> Option<u64> {
        if self.0.len() >= REMEMBERED_REPORTS && !self.0.contains_key(&thing) {
            self.0.clear();
        }
        match self.0.entry(thing) {
            Entry::Vacant(vacant) => {
                vacant.insert(Told { last: now, left_out: 0 });
                Some(0)
            }
            Entry::Occupied(mut reported) => {
                let reported = reported.get_mut();
                if now.saturating_duration_since(reported.last) < REPORT_EVERY {
                    reported.left_out += 1;
                    return None;
                }
                reported.last = now;
                Some(std::mem::take(&mut reported.left_out))
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_told_once_in_a_while_and_what_was_left_out_is_counted() {
        let start = Instant::now();
        let mut limit = Limit::new();
        assert_eq!(limit.admit("a", start), Some(0));
        assert_eq!(limit.admit("a", start + REPORT_EVERY / 2), None);
        assert_eq!(limit.admit("b", start + REPORT_EVERY / 2), Some(0), "another");
        assert_eq!(limit.admit("a", start + REPORT_EVERY / 2), None);
        assert_eq!(limit.admit("a", start + REPORT_EVERY), Some(2));
        assert_eq!(limit.admit("a", start + REPORT_EVERY), None);
    }

    /// Such a clock is not supposed to exist, but some virtual machines have one.
    #[test]
    fn a_clock_that_jumps_back_delays_and_breaks_nothing() {
        let start = Instant::now() + REPORT_EVERY * 10;
        let mut limit = Limit::new();
        assert_eq!(limit.admit(1, start), Some(0));
        assert_eq!(limit.admit(1, start - REPORT_EVERY * 5), None);
        assert_eq!(limit.admit(1, start + REPORT_EVERY), Some(1));
    }

    #[test]
    fn the_memory_is_bounded() {
        let start = Instant::now();
        let mut limit = Limit::new();
        for thing in 0..REMEMBERED_REPORTS * 3 {
            assert_eq!(limit.admit(thing, start), Some(0));
            assert!(limit.0.len() <= REMEMBERED_REPORTS);
        }
    }
}
