//! Guests: threads outside that take part in their own computations.
#![cfg(loom)]

use std::time::Duration;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::Pool;
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: what a guest offers is taken by the worker that falls asleep at that moment, while the
/// guest is in a long leaf.
///
/// Seen to fail with: no fence after an offer.
#[test]
fn a_guest_comes_while_the_worker_falls_asleep() {
    check_large(2, || {
        let pool = Pool::hospitable(1, 1);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let done = Parker::new();
        let ended = done.unparker();
        pool.join_as_guest(move || done.park(), move || ended.unpark()).expect("a slot is free");
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: a guest that falls asleep is called by the thief that ends its job at that moment, and leaves the slot
/// as it was for the next.
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
        pool.join_as_guest(thread::yield_now, write).expect("the slot is free");
        assert_eq!(written.load(Ordering::Relaxed), 1);
        stealing.join().unwrap();
        // Not while the thief is there: see `loom_itself` for what becomes of a store beside a swap.
        assert_eq!(pool.join_as_guest(|| 1, || 2), Some((1, 2)), "the slot is free again");
    });
}

/// Property: of two that come at once one gets the only slot, and the next one finds it empty.
///
/// Seen to fail with: a guest that does not give its slot back.
#[test]
fn two_guests_come_for_one_slot() {
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
        assert_eq!(pool.join_as_guest(|| 1, || 2), Some((1, 2)), "the slot is free again");
    });
}

/// Property: a guest that blocks, and has no room for a worker beside it, is monitored: it offers while the monitor
/// switches off.
///
/// Seen to fail with: a `rely_on_monitor` that does not switch the monitor on.
#[test]
fn a_guest_without_room_comes_while_the_monitor_switches_off() {
    check_large(2, || {
        let pool = Pool::without_room(1, 1);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let monitor = {
            let pool = pool.clone();
            thread::spawn(move || pool.monitor().look(&pool, Duration::ZERO))
        };
        let leaf = || {
            monitor.join().unwrap();
            assert!(pool.is_monitored());
            loom::skip_branch();
        };
        pool.join_as_guest(leaf, || ()).expect("a slot is free");
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: the job of a guest that blocks is taken by a worker for which there is no room, once the monitor has seen
/// that the guest makes no progress; also if the worker falls asleep at that moment.
///
/// Seen to fail with: a `has_room` that counts threads which were seen stalled.
#[test]
fn a_guest_without_room_blocks_while_the_worker_falls_asleep() {
    check_large(2, || {
        let pool = Pool::without_room(1, 1);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        let ran = Arc::new(AtomicBool::new(false));
        let runs = ran.clone();
        let mut monitor = pool.monitor();
        let leaf = || {
            // As the monitor's thread does while a slot is claimed.
            for seconds in 0.. {
                if ran.load(Ordering::Acquire) {
                    break;
                }
                monitor.look(&pool, Duration::from_secs(seconds));
                thread::yield_now();
            }
        };
        let job = move || runs.store(true, Ordering::Release);
        pool.join_as_guest(leaf, job).expect("a slot is free");
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: the jobs of a scope whose thread has no slot are run by the worker that falls asleep at that moment, and
/// the thread, which falls asleep as well, is called when the last has ended, and sees what all have done.
///
/// Seen to fail with: a count that does not begin with the closure (the thread leaves before the second job); a
/// `job_ended` that calls no thread outside.
#[test]
fn a_thread_without_a_slot_waits_while_its_jobs_end() {
    check_large(2, || {
        let pool = Pool::hospitable(1, 0);
        let slot = pool.occupy(0);
        let worker = thread::spawn(move || slot.work());
        // Orders nothing by itself: that its value is seen is the scope's doing.
        let written = AtomicUsize::new(0);
        pool.scope_outside(|s| {
            s.spawn(|_| _ = written.fetch_add(1, Ordering::Relaxed));
            s.spawn(|_| _ = written.fetch_add(1, Ordering::Relaxed));
        });
        assert_eq!(written.load(Ordering::Relaxed), 2);
        pool.close();
        worker.join().unwrap();
    });
}
