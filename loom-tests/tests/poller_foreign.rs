//! The poller's thread leaves wakers to a thread that it asks for, and asks for one at a time.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use windlass_loom_tests::check;
use windlass_runtime::model::Asked;

/// Property: what is left while a thread was asked and has not begun is seen by that thread, or another one is asked.
///
/// Seen to fail with: `Relaxed` in `ask` or in `begin`; a `begin` that stores.
#[test]
fn what_is_left_is_seen_by_the_thread_that_was_asked() {
    check(3, || {
        let (asked, left) = (Arc::new(Asked::default()), Arc::new(AtomicBool::new(false)));
        assert!(asked.ask(), "nobody was asked before");
        let thread = {
            let (asked, left) = (asked.clone(), left.clone());
            thread::spawn(move || {
                asked.begin();
                left.load(Ordering::Relaxed)
            })
        };
        left.store(true, Ordering::Relaxed);
        let is_asked_anew = asked.ask();
        assert!(thread.join().unwrap() || is_asked_anew);
    });
}
