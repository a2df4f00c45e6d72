//! The stack of sleepers: whoever announces itself is popped once.
#![cfg(loom)]

use std::sync::Arc;

use loom::thread;
use windlass_loom_tests::{Poison, check};
use windlass_runtime::model::Sleepers;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: every announcement is popped once, also if a worker is popped and comes back while
/// another pop of it is under way; and the counts of sleepers and searchers agree with that.
///
/// Seen to fail with: a tag that does not change with every push (a stale pop puts a worker back
/// on the stack that is awake); `update` with Relaxed instead of AcqRel and Acquire (the link is
/// stale); `announce` that does not write the link.
#[test]
fn a_worker_comes_back_while_it_is_popped() {
    check(4, || {
        let sleepers = Arc::new(Sleepers::new(2));
        sleepers.announce(0, false);
        sleepers.announce(1, false);
        let popper = {
            let sleepers = sleepers.clone();
            thread::spawn(move || sleepers.pop_any())
        };
        let comes_back = {
            let sleepers = sleepers.clone();
            thread::spawn(move || {
                let popped = [sleepers.pop_any(), sleepers.pop_any()];
                if let Some(index) = popped[0] {
                    sleepers.announce(index, true);
                }
                popped
            })
        };
        let mine = sleepers.pop();
        let mut announced = [1, 1];
        let popped = comes_back.join().unwrap();
        if let Some(index) = popped[0] {
            announced[index] += 1;
        }
        let mut all: Vec<_> = popped.into_iter().chain([mine, popper.join().unwrap()]).collect();
        while let Some(index) = sleepers.pop_any() {
            all.push(Some(index));
        }
        for index in all.into_iter().flatten() {
            announced[index] -= 1;
        }
        assert_eq!(announced, [0, 0]);
        // Of three announced, one stopped to search.
        assert_eq!(sleepers.counts(), (0, 2));
    });
}
