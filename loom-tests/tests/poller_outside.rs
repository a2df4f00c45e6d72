//! Threads in `block_on`, as virtual time counts them.
#![cfg(loom)]

use std::future::poll_fn;
use std::task::Poll;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use windlass_loom_tests::{Poison, Stash, check};
use windlass_runtime::model::Pool;
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a thread that was woken, in its poll or while it waits, counts as busy until it is polled.
///
/// Seen to fail with: an `Activity::wake` that counts nothing.
#[test]
fn a_thread_is_woken_while_it_begins_to_wait() {
    check(3, || {
        let pool = Pool::new(1, 0);
        let (stash, polled) = (Stash::default(), Parker::new());
        let polls = Arc::new(AtomicUsize::new(0));
        let waiting = {
            let (pool, stash, first) = (pool.clone(), stash.clone(), polled.unparker());
            let polls = polls.clone();
            thread::spawn(move || {
                pool.block_on(poll_fn(|cx| match polls.fetch_add(1, Ordering::SeqCst) {
                    0 => {
                        stash.keep(cx);
                        first.unpark();
                        Poll::Pending
                    }
                    _ => Poll::Ready(()),
                }));
            })
        };
        polled.park();
        stash.take().wake();
        // In this order: a thread that has been polled again may be quiet.
        let quiet = pool.is_quiet_outside();
        assert!(!quiet || polls.load(Ordering::SeqCst) > 1, "it was forgotten");
        waiting.join().unwrap();
        assert!(pool.is_quiet_outside());
    });
}
