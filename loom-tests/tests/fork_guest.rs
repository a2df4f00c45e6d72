//! Guests: threads outside that take part in their own computations.
#![cfg(loom)]

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::Pool;
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: what a guest offers is taken by the worker that falls asleep at that moment, while the guest is in a long leaf.
///
/// Seen to fail with: no fence after an offer.
#[test]
fn a_guest_comes_while_the_worker_falls_asleep() {
    check_large(2, || {
        let pool = Pool::hospitable(1, 1);
        let place = pool.occupy(0);
        let worker = thread::spawn(move || place.work());
        let done = Parker::new();
        let ended = done.unparker();
        pool.join_as_guest(move || done.park(), move || ended.unpark()).expect("a place is free");
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: a guest that falls asleep is called by the thief that ends its job at that moment, and leaves the place as it
/// was for the next.
///
/// Seen to fail with: no fence in `latch_was_set`.
#[test]
fn a_guest_falls_asleep_while_its_job_ends() {
    check(3, || {
        let pool = Pool::hospitable(1, 1);
        let thief = pool.fork(0);
        let stealing = thread::spawn(move || thief.steal_once());
        // Orders nothing by itself: that its value is seen is the join's doing.
        let written = AtomicUsize::new(0);
        let write = || written.store(1, Ordering::Relaxed);
        pool.join_as_guest(thread::yield_now, write).expect("the place is free");
        assert_eq!(written.load(Ordering::Relaxed), 1);
        stealing.join().unwrap();
        // Not while the thief is there: see `loom_itself` for what becomes of a store beside a swap.
        assert_eq!(pool.join_as_guest(|| 1, || 2), Some((1, 2)), "the place is free again");
    });
}

/// Property: of two that come at once one gets the only place, and the next one finds it empty.
///
/// Seen to fail with: a guest that does not give its place back.
#[test]
fn two_guests_come_for_one_place() {
    check(3, || {
        let pool = Pool::hospitable(1, 1);
        let other = {
            let pool = pool.clone();
            thread::spawn(move || pool.join_as_guest(|| 1, || 2))
        };
        let one = pool.join_as_guest(|| 1, || 2);
        let other = other.join().unwrap();
        assert!(one.is_some() || other.is_some(), "one of them takes part");
        assert!([one, other].into_iter().flatten().all(|both| both == (1, 2)));
        assert_eq!(pool.join_as_guest(|| 1, || 2), Some((1, 2)), "the place is free again");
    });
}
