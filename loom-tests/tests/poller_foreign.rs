//! The poller's thread leaves wakers to a thread that it asks for, and asks for one at a time.
#![cfg(loom)]

use std::task::{Wake, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;
use windlass_loom_tests::check;
use windlass_runtime::model::{Asked, Pool};

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

/// Counts its calls.
struct Calls(Arc<AtomicUsize>);

impl Wake for Calls {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Property: wakers that are handed on while the blocking pool closes are called, by a thread of it or by another.
///
/// Seen to fail with: a thread of the blocking pool that looks whether the pool is closed before it looks for wakers.
#[test]
fn wakers_are_handed_on_while_the_blocking_pool_closes() {
    check(2, || {
        let pool = Pool::new(1, 0);
        pool.keep_threads();
        let calls = Arc::new(AtomicUsize::new(0));
        let closing = {
            let pool = pool.clone();
            thread::spawn(move || pool.close_blocking())
        };
        for _ in 0..2 {
            pool.hand_on(Waker::from(std::sync::Arc::new(Calls(calls.clone()))));
        }
        closing.join().unwrap();
        pool.join_threads();
        assert_eq!(calls.load(Ordering::Relaxed), 2);
    });
}
