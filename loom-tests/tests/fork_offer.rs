//! A job that is offered: it is run once, by its owner or by a thief, and its frame is not touched after
//! its end.
#![cfg(loom)]

use loom::thread;
use windlass_loom_tests::{Poison, check};
use windlass_runtime::model::Pool;

#[global_allocator]
static POISON: Poison = Poison;

/// Property: a job that a thief reaches for while its owner takes it back is run once, its result
/// arrives, and what was written before it or in it is seen by the thread that goes on after it.
///
/// Seen to fail with: `take` that reads and then clears instead of swapping (run twice); `put` without
/// Release (the thief reads a closure it does not see); `JoinLatch::set` without Release.
#[test]
fn a_thief_reaches_for_what_the_owner_takes_back() {
    check(3, || {
        let pool = Pool::new(2, 0);
        let thief = pool.fork(1);
        let stealing = thread::spawn(move || thief.steal_once());
        let owner = pool.fork(0);
        let (a, b) = owner.join(|| 1, || 2);
        assert_eq!((a, b), (1, 2));
        stealing.join().unwrap();
    });
}

/// Property: the frame of a join whose job was stolen may go as soon as the join is over, whatever the
/// thief still has to do.
///
/// Seen to fail with: `StackJob::run` that looks at its latch once more after it was set; no fence in
/// `latch_was_set`, or in `sleep_joining` (a joiner that nobody wakes); `sleep_joining` that does not look
/// once more.
#[test]
fn a_joiner_leaves_its_frame_while_the_thief_sets_the_latch() {
    check(3, || {
        let pool = Pool::new(2, 0);
        let thief = pool.fork(1);
        let stealing = thread::spawn(move || thief.steal_once());
        let owner = pool.fork(0);
        // The first half gives the thief its chance.
        let (_, b) = owner.join(thread::yield_now, || Box::new(3));
        assert_eq!(*b, 3);
        stealing.join().unwrap();
    });
}

/// Starts a thief that looks for a job twice.
fn steal_twice(pool: &Pool) -> thread::JoinHandle<()> {
    let thief = pool.fork(1);
    thread::spawn(move || {
        thief.steal_once();
        thief.steal_once();
    })
}

/// Property: of joins within joins, with a thief for the oldest, each is run once and the stack comes out
/// even.
///
/// Seen to fail with: `put` or `JoinLatch::set` without Release; `StackJob::run` that looks at its latch after
/// it was set.
#[test]
fn the_oldest_of_two_is_stolen() {
    check(2, || {
        let pool = Pool::new(2, 0);
        let stealing = steal_twice(&pool);
        let owner = pool.fork(0);
        let (inner, c) = owner.join(|| owner.join(|| 1, || 2), || 3);
        assert_eq!((inner, c), ((1, 2), 3));
        stealing.join().unwrap();
    });
}

/// Property: of joins within joins, none that was offered when the oldest was stolen is run in place. That it is the
/// oldest of the rest is the matter of a unit test in `pending.rs`: a computation as short as this one keeps none back.
#[test]
fn the_oldest_of_those_left_is_offered_next() {
    check(2, || {
        let pool = Pool::new(2, 0);
        let stealing = steal_twice(&pool);
        let owner = pool.fork(0);
        let sums = owner.join(|| owner.join(|| owner.join(|| 1, || 2), || 3), || 4);
        assert_eq!(sums, (((1, 2), 3), 4));
        stealing.join().unwrap();
    });
}

/// Property: a joiner that has slept in one join, or was about to, sleeps in the next one as if it were its
/// first: each of two joins in a row, with a thief for both, comes to its end, and no token is left over.
///
/// Seen to fail with: a swap in `Offer::take`, which is loom's doing and would be right: see
/// `loom_itself`. The second offer slipped under the swap of a thief that had come too late for
/// the first, and its joiner waited for ever.
#[test]
fn two_joins_in_a_row_are_stolen() {
    check(2, || {
        let pool = Pool::new(2, 0);
        let stealing = steal_twice(&pool);
        let owner = pool.fork(0);
        let (_, b) = owner.join(thread::yield_now, || 1);
        let (_, d) = owner.join(thread::yield_now, || 2);
        assert_eq!((b, d), (1, 2));
        stealing.join().unwrap();
        assert!(!owner.has_token(), "a token was left over");
    });
}
