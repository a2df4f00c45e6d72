//! What a spare, the worker that it stands in for and the monitor say to each other.
#![cfg(loom)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use loom::thread;
use windlass_loom_tests::{Poison, check, check_large};
use windlass_runtime::model::Pool;
use windlass_sync::Parker;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a spare sent for a worker that comes back at that moment, and falls asleep, leaves
/// again. (One that stays shows as a model without an end.)
///
/// Seen to fail with: a `sleep` that does not look for its spare; a `take_spare` that leaves the note
/// there. (Not with a `relieve` without its fence, which is the matter of the model below.)
#[test]
fn a_spare_is_sent_while_the_worker_comes_back() {
    check(2, || {
        let pool = Pool::new(1, 1);
        let slot = pool.occupy(0);
        let monitor = Arc::new(Mutex::new(pool.monitor()));
        let parker = Parker::new();
        drop(pool.spawn({
            let (pool, monitor, unparker) = (pool.clone(), monitor.clone(), parker.unparker());
            async move {
                monitor.lock().unwrap().look(&pool, Duration::ZERO);
                unparker.unpark();
            }
        }));
        drop(pool.spawn(async {}));
        let worker = thread::spawn(move || slot.work());
        // The worker is in its first poll, and a second task waits.
        parker.park();
        monitor.lock().unwrap().look(&pool, Duration::from_secs(1));
        while pool.is_occupied(1) {
            thread::yield_now();
        }
        loom::skip_branch();
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: a spare that is sent for a worker which makes progress at that moment, and falls asleep, leaves again: the
/// worker sees the note of it, or the monitor sees that the poll is over, whatever else it may see out of date.
///
/// Seen to fail with: no fence between the note and the look at the progress; a monitor that does not look at it.
#[test]
fn a_spare_is_sent_while_the_worker_makes_progress() {
    check(3, || {
        // How the worker came to be in its poll is the matter of other models.
        loom::stop_exploring();
        let pool = Pool::new(1, 1);
        let slot = pool.occupy(0);
        let (first, stuck) = (Parker::new(), Parker::new());
        let (in_poll, go_on) = (first.unparker(), stuck.unparker());
        drop(pool.spawn(async move {
            in_poll.unpark();
            stuck.park();
        }));
        let worker = thread::spawn(move || slot.work());
        first.park();
        let mut monitor = pool.monitor();
        monitor.look(&pool, Duration::ZERO);
        go_on.unpark();
        loom::explore();
        monitor.relieve(&pool, 0);
        loom::stop_exploring();
        while pool.is_occupied(1) {
            thread::yield_now();
        }
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: what a worker that comes back says to its spare is not heard by the next spare in that slot, however late
/// the worker says it: the monitor claims the slot only after that.
///
/// Seen to fail with: a `claim` that does not ask whether the last spare was told to leave.
#[test]
fn a_slot_is_claimed_while_the_worker_dismisses_its_spare() {
    check(3, || {
        let pool = Pool::new(2, 1);
        let spare = 2;
        assert!(pool.claim(spare), "it is vacant from the start");
        pool.relieve(0, spare);
        let worker = thread::spawn({
            let pool = pool.clone();
            move || pool.dismiss_spare_of(0)
        });
        let claimed = pool.claim(spare);
        worker.join().unwrap();
        assert_eq!(pool.must_retire(spare), !claimed, "it was said to the wrong one");
    });
}

/// Property: a worker that comes back while a spare is sent for it, so that none is, says nothing to the
/// spare that is sent for another worker. (A spare that leaves at once, while that worker believes it has
/// one, shows as a model without an end.)
///
/// Why the monitor can't claim the slot too soon is the matter of the model above.
#[test]
fn a_spare_is_sent_for_another_while_the_worker_comes_back() {
    check(3, || {
        // How they came to be where they are is the matter of other models.
        loom::stop_exploring();
        let pool = Pool::new(2, 1);
        let slots = [pool.occupy(0), pool.occupy(1)];
        let (first, stuck, back) = (Parker::new(), Parker::new(), Parker::new());
        let (in_poll, go_on) = (first.unparker(), stuck.unparker());
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                in_poll.unpark();
                stuck.park();
                // It is of no help to the others.
                pool.retire(0);
            }
        }));
        let [slot, other] = slots;
        let worker = thread::spawn(move || slot.work());
        first.park();
        let ran = back.unparker();
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                drop(pool.clone().spawn(async move { ran.unpark() }));
                let mut monitor = pool.monitor();
                monitor.look(&pool, Duration::ZERO);
                loom::explore();
                go_on.unpark();
                monitor.look(&pool, Duration::from_secs(1));
                worker.join().unwrap();
                // All has been said. What comes of it is one course of events.
                loom::stop_exploring();
                // Stuck, until what waits has been run.
                let mut later = 1;
                while !back.take_token() {
                    later += 1;
                    monitor.look(&pool, Duration::from_secs(later));
                    thread::yield_now();
                }
                pool.close();
            }
        }));
        other.work();
    });
}

/// Property: a spare that has stood in for a computation, and lingers, leaves when the pool falls idle,
/// also if it falls asleep at that moment. (One that stays shows as a model without an end.)
///
/// Seen to fail with: no `dismiss_spares`; one that does not tell it, or wakes nobody.
#[test]
fn a_spare_that_lingers_is_dismissed_while_it_falls_asleep() {
    check_large(1, || {
        let pool = Pool::new(1, 1);
        let (slot, spare) = (pool.occupy(0), pool.occupy(1));
        // The worker has computed, and keeps its spare for the next time.
        drop(pool.compute({
            let pool = pool.clone();
            move || pool.relieve_computing(0, 1)
        }));
        let worker = thread::spawn(move || slot.work());
        let spare = thread::spawn(move || spare.work());
        let mut monitor = pool.monitor();
        while pool.is_occupied(1) {
            monitor.look(&pool, Duration::ZERO);
            thread::yield_now();
        }
        spare.join().unwrap();
        loom::skip_branch();
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: a spare is dismissed also if somebody has just called it, with all others, and it falls asleep
/// again. (One that stays shows as a model without an end.)
///
/// Seen to fail with: no fence in `dismiss_spare`.
#[test]
fn a_spare_is_dismissed_while_all_are_called() {
    check_large(1, || {
        loom::stop_exploring();
        let pool = Pool::new(1, 1);
        let slots = [pool.occupy(0), pool.occupy(1)];
        drop(pool.compute({
            let pool = pool.clone();
            move || pool.relieve_computing(0, 1)
        }));
        let [worker, spare] = slots.map(|slot| thread::spawn(move || slot.work()));
        while pool.sleeping() < 2 {
            thread::yield_now();
        }
        let mut monitor = pool.monitor();
        monitor.look(&pool, Duration::ZERO);
        loom::explore();
        let calling = {
            let pool = pool.clone();
            thread::spawn(move || pool.wake_all())
        };
        monitor.look(&pool, Duration::ZERO);
        calling.join().unwrap();
        loom::stop_exploring();
        while pool.is_occupied(1) {
            monitor.look(&pool, Duration::ZERO);
            thread::yield_now();
        }
        spare.join().unwrap();
        pool.close();
        worker.join().unwrap();
    });
}

/// Property: a spare sent for a worker that leaves at that moment leaves too. (One that stays shows as a model without
/// an end.)
///
/// The loop of `run` dismisses it. The model passes without the look at the end of `run` and the fence before it as
/// well, so it says nothing about them: the count of polls that the fence guards is not loom's, and the monitor of a
/// model always knows the newest.
#[test]
fn a_spare_is_sent_for_one_that_retires() {
    check(3, || {
        // How it came to be in its poll is the matter of other models.
        loom::stop_exploring();
        let pool = Pool::new(1, 2);
        let slot = pool.occupy(1);
        let (first, stuck) = (Parker::new(), Parker::new());
        let (in_poll, go_on) = (first.unparker(), stuck.unparker());
        drop(pool.spawn({
            let pool = pool.clone();
            async move {
                in_poll.unpark();
                stuck.park();
                pool.retire(1);
            }
        }));
        drop(pool.spawn(async {}));
        let retiring = thread::spawn(move || slot.work());
        first.park();
        let mut monitor = pool.monitor();
        monitor.look(&pool, Duration::ZERO);
        loom::explore();
        go_on.unpark();
        monitor.look(&pool, Duration::from_secs(1));
        retiring.join().unwrap();
        loom::stop_exploring();
        while pool.is_occupied(2) {
            thread::yield_now();
        }
        pool.close();
        pool.occupy(0).work();
    });
}

/// Property: a worker that leaves takes along the spare that stood in for it and lingers. (One that stays shows as a
/// deadlock.)
///
/// Seen to fail with: a `run` that does not dismiss it at its end.
#[test]
fn a_spare_with_a_spare_retires() {
    check(2, || {
        let pool = Pool::new(1, 2);
        let (first, second) = (pool.occupy(1), pool.occupy(2));
        let lingering = Arc::new(Mutex::new(None));
        drop(pool.compute({
            let (pool, lingering) = (pool.clone(), lingering.clone());
            move || {
                pool.relieve_computing(1, 2);
                *lingering.lock().unwrap() = Some(thread::spawn(move || second.work()));
                pool.retire(1);
            }
        }));
        first.work();
        let lingering = lingering.lock().unwrap().take();
        lingering.expect("it was started").join().unwrap();
    });
}
