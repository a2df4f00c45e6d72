//! A tracker that becomes closed and empty wakes whoever waits.
#![cfg(loom)]

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::thread;
use windlass_loom_tests::check;
use windlass_runtime::task::TaskTracker;

/// What the tasks leave behind, for loom to see who may read it.
struct Left(UnsafeCell<usize>);

// SAFETY: written by one thread and read by another, which loom orders or refuses.
unsafe impl Sync for Left {}

/// Property: the wait ends, and sees what was done before the last token was dropped.
///
/// Seen to fail with: a `poll` that does not look again under the lock.
#[test]
fn the_last_task_ends_while_somebody_begins_to_wait() {
    check(3, || {
        let tracker = TaskTracker::new();
        let left = Arc::new(Left(UnsafeCell::new(0)));
        let token = tracker.token();
        let other = {
            let left = left.clone();
            thread::spawn(move || {
                // SAFETY: nobody reads it before the wait is over, says the property.
                left.0.with_mut(|place| unsafe { *place = 1 });
                drop(token);
            })
        };
        tracker.close();
        windlass_sync::block_on(tracker.wait());
        // SAFETY: as above.
        assert_eq!(left.0.with(|place| unsafe { *place }), 1);
        other.join().unwrap();
    });
}

/// Property: whoever closes and whoever drops the last token, one of them wakes.
///
/// Seen to fail with: a `close` that wakes nobody.
#[test]
fn it_is_closed_while_the_last_task_ends() {
    check(3, || {
        let tracker = TaskTracker::new();
        let token = tracker.token();
        let ends = thread::spawn(move || drop(token));
        let closes = {
            let tracker = tracker.clone();
            thread::spawn(move || _ = tracker.close())
        };
        windlass_sync::block_on(tracker.wait());
        ends.join().unwrap();
        closes.join().unwrap();
    });
}
