//! Arranges a thread's slices so that any two are disjoint or nested. Viewers take the slices of a thread for nested
//! calls, and show others in the wrong place.
//!
//! A worker notes most slices with the time at which they began and ended, so they are nested. But some times are
//! estimates: short polls are noted together, from the last event to a reading of the clock that may lie in the middle
//! of a computation, and a poll that was not expected to be long began at the last reading of the clock, or after it.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::event::{Event, What};

/// Returns when an event began.
pub(super) fn begin(event: &Event) -> u64 {
    event.at.saturating_sub(event.lasted)
}

/// An event that waits for its turn: the earliest first, and of those that begin together the longest.
struct Waiting(Event);

impl Waiting {
    fn key(&self) -> (u64, Reverse<u64>) {
        (begin(&self.0), Reverse(self.0.at))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// Returns the events in the order in which they began, with each slice before those that it encloses. If two slices
/// overlap and neither encloses the other, short polls that were noted together end when the second slice begins.
/// Otherwise, the second slice begins when the first has ended.
pub(super) fn nest(events: Vec<Event>) -> Vec<Event> {
    let mut waiting: BinaryHeap<_> =
        events.into_iter().map(|event| Reverse(Waiting(event))).collect();
    let mut nested: Vec<Event> = Vec::with_capacity(waiting.len());
    // The slices around what comes next, the innermost last. Each is within the one before it.
    let mut around: Vec<usize> = Vec::new();
    while let Some(Reverse(Waiting(mut event))) = waiting.pop() {
        if event.lasted == 0 {
            nested.push(event);
            continue;
        }
        while around.last().is_some_and(|&slice| nested[slice].at <= begin(&event)) {
            around.pop();
        }
        match around.last() {
            Some(&slice) if nested[slice].at < event.at => {
                let first = &mut nested[slice];
                if let What::Polls(_) = first.what {
                    // All that is within it has ended before this event began.
                    first.lasted -= first.at - begin(&event);
                    first.at = begin(&event);
                } else {
                    event.lasted = event.at - first.at;
                }
                waiting.push(Reverse(Waiting(event)));
            }
            _ => {
                around.push(nested.len());
                nested.push(event);
            }
        }
    }
    nested
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::random::Random;

    fn slice(from: u64, to: u64, what: What) -> Event {
        Event { at: to, lasted: to - from, what }
    }

    fn times(events: &[Event]) -> Vec<(u64, u64)> {
        events.iter().map(|event| (begin(event), event.at)).collect()
    }

    /// Panics unless slices are nested and come in the order in which viewers want them.
    fn check(events: &[Event]) {
        let mut around: Vec<(u64, u64)> = Vec::new();
        let mut last = 0;
        for (from, to) in times(events) {
            assert!(last <= from, "{events:?}");
            last = from;
            if from == to {
                continue;
            }
            while around.last().is_some_and(|&(_, end)| end <= from) {
                around.pop();
            }
            assert!(
                around.last().is_none_or(|&(_, end)| to <= end),
                "{from} to {to} of {events:?}"
            );
            around.push((from, to));
        }
    }

    #[test]
    fn short_polls_give_way_to_a_computation() {
        let polls = slice(10, 50, What::Polls(3));
        let before = nest(vec![slice(30, 90, What::Compute), polls]);
        assert_eq!(times(&before), [(10, 30), (30, 90)]);
        let after = nest(vec![slice(0, 30, What::Compute), polls]);
        assert_eq!(times(&after), [(0, 30), (30, 50)]);
        let within = nest(vec![slice(20, 30, What::Compute), polls]);
        assert_eq!(times(&within), [(10, 50), (20, 30)]);
    }

    #[test]
    fn of_two_that_begin_together_the_longer_is_around_the_other() {
        let events = nest(vec![slice(5, 6, What::Os), slice(5, 9, What::Compute)]);
        assert_eq!(times(&events), [(5, 9), (5, 6)]);
    }

    #[test]
    fn whatever_was_noted_is_nested_in_the_end() {
        let mut random = Random::new(17);
        for _ in 0..2_000 {
            let mut below = |limit: u64| random.below(limit as usize) as u64;
            let length = 1 + below(60);
            let mut events = Vec::new();
            for _ in 0..1 + below(30) {
                let from = below(length);
                let to = from + below(length);
                let what = match below(4) {
                    0 => What::Polls(1),
                    1 => What::Compute,
                    2 => What::Os,
                    _ => What::Start,
                };
                events.push(slice(from, if what == What::Start { from } else { to }, what));
            }
            let nested = nest(events.clone());
            check(&nested);
            assert_eq!(nested.len(), events.len(), "none gets lost");
            let was_slice = events.iter().filter(|event| event.lasted > 0).count();
            let is_slice = nested.iter().filter(|event| event.lasted > 0).count();
            assert_eq!(was_slice, is_slice, "or gets too short to be seen");
            for event in &nested {
                let within = |whole: &&Event| {
                    whole.what == event.what && begin(whole) <= begin(event) && event.at <= whole.at
                };
                assert!(events.iter().any(|whole| within(&whole)), "none becomes longer");
            }
        }
    }
}
