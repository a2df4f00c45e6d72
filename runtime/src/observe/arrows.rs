//! Links each wake-up to the poll that it caused, as viewers draw it.
//!
//! A viewer attaches an arrow to the slice around its start, so wake-ups outside of every slice have none. Those are
//! made by threads that are not workers.

use std::collections::HashMap;

use super::event::{Event, What};
use super::nest::begin;

/// An arrow's end at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrow {
    /// It leaves from this wake-up. Arrows are numbered.
    From(u64),
    /// It points at this poll.
    To(u64),
}

/// An event in the life of a task, in the order of time.
struct Moment {
    at: u64,
    task: u64,
    /// Wake-ups come before polls that begin at the same time.
    is_poll: bool,
    thread: usize,
    event: usize,
}

/// Returns the ends of arrows, by thread and by event. The events of each thread are nested.
pub(super) fn arrows(threads: &[&[Event]]) -> HashMap<(usize, usize), Arrow> {
    let mut moments = Vec::new();
    for (thread, events) in threads.iter().enumerate() {
        // The ends of the slices around what comes next.
        let mut around: Vec<u64> = Vec::new();
        for (event, what) in events.iter().enumerate() {
            while around.last().is_some_and(|&end| end <= begin(what)) {
                around.pop();
            }
            if what.lasted > 0 {
                around.push(what.at);
            }
            let (task, is_poll) = match what.what {
                What::Wake { task, .. } if !around.is_empty() => (task, false),
                What::Poll { task, .. } if what.lasted > 0 => (task, true),
                _ => continue,
            };
            moments.push(Moment { at: begin(what), task, is_poll, thread, event });
        }
    }
    moments.sort_unstable_by_key(|moment| (moment.task, moment.at, moment.is_poll));
    let mut arrows = HashMap::new();
    for pair in moments.windows(2) {
        let [wake, poll] = pair else { continue };
        if wake.task == poll.task && !wake.is_poll && poll.is_poll {
            let number = arrows.len() as u64 / 2;
            arrows.insert((wake.thread, wake.event), Arrow::From(number));
            arrows.insert((poll.thread, poll.event), Arrow::To(number));
        }
    }
    arrows
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::task::{SiteId, WokenBy};

    fn poll(task: u64, from: u64, to: u64) -> Event {
        let site = SiteId::of(std::panic::Location::caller(), None);
        Event { at: to, lasted: to - from, what: What::Poll { site, task } }
    }

    fn wake(task: u64, at: u64) -> Event {
        Event { at, lasted: 0, what: What::Wake { by: WokenBy::Task, task, waker: 0 } }
    }

    #[test]
    fn each_wake_up_within_a_slice_points_at_the_next_poll_of_its_task() {
        // Task 1 wakes tasks 2 and 3, and itself, and outside of its poll somebody wakes task 2.
        let first =
            [poll(1, 10, 20), wake(2, 12), wake(3, 13), wake(1, 14), poll(1, 20, 30), wake(2, 90)];
        let second = [poll(3, 5, 8), poll(2, 15, 19), poll(3, 25, 28), poll(2, 100, 110)];
        let arrows = arrows(&[&first, &second]);
        let number = |end| match arrows.get(&end) {
            Some(&Arrow::From(number) | &Arrow::To(number)) => number,
            None => panic!("no arrow at {end:?}"),
        };
        for (from, to) in [((0, 1), (1, 1)), ((0, 2), (1, 2)), ((0, 3), (0, 4))] {
            assert!(matches!(arrows[&from], Arrow::From(_)) && matches!(arrows[&to], Arrow::To(_)));
            assert_eq!(number(from), number(to));
        }
        assert_eq!(arrows.len(), 6, "{arrows:?}");
    }

    #[test]
    fn of_two_wake_ups_before_a_poll_the_later_has_the_arrow() {
        let events = [poll(1, 0, 50), wake(2, 10), wake(2, 20), poll(2, 60, 70)];
        let arrows = arrows(&[&events]);
        assert_eq!((arrows.len(), arrows.get(&(0, 1))), (2, None));
    }
}
