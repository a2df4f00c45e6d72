//! The sleepers' word: a worker that announces itself, on the stack or in the seat, is popped once.
#![cfg(loom)]

use std::sync::Arc;

use loom::thread;
use windlass_loom_tests::{Poison, check};
use windlass_runtime::model::Sleepers;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: every announcement is popped once, also if a worker is popped and comes back, above
/// another one than before, while a pop of it is under way; and the counts agree with that.
///
/// Seen to fail with: a tag that does not change with every push (a stale pop puts a worker back
/// on the stack that is awake); `update` with Relaxed instead of AcqRel and Acquire (the link is
/// stale); `announce` that does not write the link.
#[test]
fn a_worker_comes_back_while_it_is_popped() {
    check(4, || {
        let sleepers = Arc::new(Sleepers::new(3));
        sleepers.announce(0, false);
        sleepers.announce(1, false);
        let popper = {
            let sleepers = sleepers.clone();
            thread::spawn(move || sleepers.pop())
        };
        // Both find work. Then a third worker falls asleep, and the first of the two above it.
        let popped = [(); 2].map(|()| {
            let popped = sleepers.pop();
            if popped.is_some() {
                let _ = sleepers.stop_search();
            }
            popped
        });
        let mut announced = [1, 1, 1];
        sleepers.announce(2, false);
        if let Some(index) = popped[0] {
            sleepers.announce(index, false);
            announced[index] += 1;
        }
        let by_other = popper.join().unwrap();
        let mut searching = usize::from(by_other.is_some());
        for index in popped.into_iter().chain([by_other]).flatten() {
            announced[index] -= 1;
        }
        sleepers.pop_all(|index| {
            announced[index] -= 1;
            searching += 1;
        });
        assert_eq!(announced, [0, 0, 0]);
        assert_eq!(sleepers.counts(), (0, searching));
    });
}

/// Property: every announcement is popped once, also if all are popped at once, twice, and those
/// that were woken are asleep again while the others are still to be woken.
///
/// Seen to fail with: `pop_all` that leaves the top where it is; `pop_all` that reads the link of a
/// worker after it was woken; `update` with Relaxed.
#[test]
fn workers_come_back_while_all_are_popped() {
    check(4, || {
        let sleepers = Arc::new(Sleepers::new(3));
        for index in 0..3 {
            sleepers.announce(index, false);
        }
        let popper = {
            let sleepers = sleepers.clone();
            thread::spawn(move || {
                let mut popped = [0; 3];
                sleepers.pop_all(|index| popped[index] += 1);
                popped
            })
        };
        let mut left = [1, 1, 1];
        sleepers.pop_all(|index| {
            left[index] -= 1;
            if index > 0 {
                sleepers.announce(index, true);
                left[index] += 1;
            }
        });
        let popped = popper.join().unwrap();
        sleepers.pop_all(|index| left[index] -= 1);
        assert_eq!(left, popped);
        assert_eq!(sleepers.counts(), (0, 3));
    });
}

/// The worker in the seat tries to leave it. If it can, it finds work and comes back. Returns false if it was popped.
fn leave_and_come_back(sleepers: &Sleepers) -> bool {
    let left = sleepers.leave_seat(0);
    if left {
        let _ = sleepers.stop_search();
        sleepers.announce_in_seat(0);
    }
    left
}

/// Property: a worker that leaves the seat by itself while it is popped is told so, and is popped once for each time
/// that it sits down; and the counts agree with that.
///
/// Seen to fail with: a `leave_seat` that does not ask who is in the seat, or that does not make a searcher of the
/// worker; a `pop` that leaves the worker in the seat.
#[test]
fn a_worker_leaves_the_seat_while_it_is_popped() {
    check(4, || {
        let sleepers = Arc::new(Sleepers::new(2));
        sleepers.announce(1, false);
        sleepers.announce_in_seat(0);
        let popper = {
            let sleepers = sleepers.clone();
            thread::spawn(move || sleepers.pop())
        };
        let left = leave_and_come_back(&sleepers);
        let popped = popper.join().unwrap();
        assert!(left || popped == Some(0), "it was not popped, and could not leave");
        let mut asleep = [i32::from(left || popped != Some(0)), 1];
        if let Some(index) = popped.filter(|&index| index == 1 || left) {
            asleep[index] -= 1;
        }
        let mut searching = usize::from(popped.is_some());
        sleepers.pop_all(|index| {
            asleep[index] -= 1;
            searching += 1;
        });
        assert_eq!(asleep, [0, 0]);
        assert_eq!(sleepers.counts(), (0, searching));
    });
}

/// Property: as above, with all sleepers popped at once.
///
/// Seen to fail with: a `pop_all` that leaves the worker in the seat; a `leave_seat` that does not ask who is in the
/// seat.
#[test]
fn a_worker_leaves_the_seat_while_all_are_popped() {
    check(4, || {
        let sleepers = Arc::new(Sleepers::new(2));
        sleepers.announce(1, false);
        sleepers.announce_in_seat(0);
        let popper = {
            let sleepers = sleepers.clone();
            thread::spawn(move || {
                let mut popped = [0, 0];
                sleepers.pop_all(|index| popped[index] += 1);
                popped
            })
        };
        let left = leave_and_come_back(&sleepers);
        let mut popped = popper.join().unwrap();
        assert!(left || popped[0] == 1, "it was not popped, and could not leave");
        sleepers.pop_all(|index| popped[index] += 1);
        assert_eq!(popped, [1, 1]);
        assert_eq!(sleepers.counts(), (0, 2));
    });
}
