//! The parker: no token is lost or duplicated.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use windlass_sync::Parker;

/// `unpark` ends a `park` that it races with, and everything before it is visible after the `park`.
///
/// Fails when `park_until` announces PARKED before it takes the lock (the notification comes
/// between the announcement and the wait: deadlock), and when the swap in `unpark` is Relaxed (the
/// assertion).
#[test]
fn unpark_races_with_park() {
    loom::model(|| {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let told = Arc::new(AtomicUsize::new(0));
        let thread = thread::spawn({
            let told = told.clone();
            move || {
                told.store(1, Relaxed);
                unparker.unpark();
            }
        });
        parker.park();
        assert_eq!(told.load(Relaxed), 1);
        thread.join().unwrap();
    });
}

/// A `park` that took its token leaves none behind: the next one waits for the next `unpark`.
///
/// Fails when `take_token` does not go back to EMPTY (the second assertion).
#[test]
fn each_park_takes_its_own_token() {
    loom::model(|| {
        let parker = Parker::new();
        let other = Parker::new();
        let told = Arc::new(AtomicUsize::new(0));
        let answer = other.unparker();
        let thread = thread::spawn({
            let (unparker, told) = (parker.unparker(), told.clone());
            move || {
                told.store(1, Relaxed);
                unparker.unpark();
                other.park();
                told.store(2, Relaxed);
                unparker.unpark();
            }
        });
        parker.park();
        assert_eq!(told.load(Relaxed), 1);
        answer.unpark();
        parker.park();
        assert_eq!(told.load(Relaxed), 2);
        thread.join().unwrap();
    });
}

/// Two threads call `unpark` at once: one `park` returns, and at most one token is left.
///
/// Fails when `unpark` notifies the condition variable only if it found EMPTY (deadlock).
#[test]
fn two_unparkers() {
    loom::model(|| {
        let parker = Parker::new();
        let threads = [(); 2].map(|()| {
            let unparker = parker.unparker();
            thread::spawn(move || unparker.unpark())
        });
        parker.park();
        for thread in threads {
            thread.join().unwrap();
        }
        // A token left by the slower one is kept, and is only one.
        parker.unparker().unpark();
        parker.park();
        assert!(!parker.park_until(Some(std::time::Instant::now())));
    });
}
