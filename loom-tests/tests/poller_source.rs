//! A source of events: no readiness is lost, and no direction disturbs the other.
#![cfg(loom)]

use std::future::poll_fn;
use std::task::Poll;

use loom::sync::Arc;
use loom::thread;
use windlass_loom_tests::check;
use windlass_runtime::model::{Direction, Kicks, Source, Waiter};
use windlass_sync::block_on;
use windlass_sync::primitives::{AtomicBool, Ordering};

const READ: Direction = Direction::Read;
const WRITE: Direction = Direction::Write;

/// Property: clearing what an operation started from never erases an event that came after it.
///
/// Seen to fail with: `clear` that takes READY away whatever the generation is.
#[test]
fn a_stale_clear_does_not_erase_a_newer_event() {
    check(3, || {
        let source = Arc::new(Source::new());
        source.event(READ);
        let seen = source.look(READ);
        let poller = {
            let source = source.clone();
            thread::spawn(move || source.event(READ))
        };
        source.clear(READ, seen);
        poller.join().unwrap();
        assert!(source.is_ready(READ));
    });
}

/// Property: a task that waits for an event is woken by it, or sees it, also while it clears an older one;
/// and what was written before the event is seen.
///
/// Seen to fail with: `event` that takes the wakers out before it sets the word; `wait` that does not
/// look again after it has taken the lock; a Relaxed store in `set`.
#[test]
fn an_event_reaches_who_waits() {
    check(3, || {
        let source = Arc::new(Source::new());
        let data = Arc::new(AtomicBool::new(false));
        source.event(READ);
        let poller = {
            let (source, data) = (source.clone(), data.clone());
            thread::spawn(move || {
                data.store(true, Ordering::Relaxed);
                source.event(READ);
            })
        };
        let mut waiter = Waiter::default();
        // Try, find nothing, clear, wait: until the data is there.
        block_on(poll_fn(|cx| {
            loop {
                let seen = source.look(READ);
                if data.load(Ordering::Relaxed) {
                    return Poll::Ready(());
                }
                source.clear(READ, seen);
                if !source.wait(READ, &mut waiter, cx.waker()) {
                    return Poll::Pending;
                }
            }
        }));
        source.forget(READ, waiter);
        poller.join().unwrap();
    });
}

/// Property: an event for writing does not touch what is known of reading, and the other way round.
///
/// Seen to fail with: an event that sets the word of reading, whatever it is for.
#[test]
fn the_directions_are_independent() {
    check(3, || {
        let source = Arc::new(Source::new());
        source.event(READ);
        let seen = source.look(READ);
        let poller = {
            let source = source.clone();
            thread::spawn(move || source.event(WRITE))
        };
        source.clear(READ, seen);
        poller.join().unwrap();
        assert!(!source.is_ready(READ));
        assert!(source.is_ready(WRITE));
    });
}

/// Property: of two tasks that wait for one direction, an event wakes both; one that goes away takes nothing
/// along.
///
/// Seen to fail with: `drain` that takes the first waiter only.
#[test]
fn an_event_wakes_all_who_wait() {
    check(2, || {
        let source = Arc::new(Source::new());
        let wait = |source: Arc<Source>| {
            let mut waiter = Waiter::default();
            block_on(poll_fn(|cx| {
                if source.wait(READ, &mut waiter, cx.waker()) {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            }));
            source.forget(READ, waiter);
        };
        let other = {
            let source = source.clone();
            thread::spawn(move || wait(source))
        };
        let poller = {
            let source = source.clone();
            thread::spawn(move || source.event(READ))
        };
        wait(source);
        other.join().unwrap();
        poller.join().unwrap();
    });
}

/// Property: what is announced by an event reaches all who wait for it, also if one of them has taken note and
/// cleared the event before another comes to wait.
///
/// Seen to fail with: a poll of `Until` that does not look at the condition again after it got into the list.
#[test]
fn what_an_event_announces_reaches_all_who_wait() {
    check(3, || {
        let source = Arc::new(Source::new());
        let said = Arc::new(AtomicBool::new(false));
        let signal = {
            let (source, said) = (source.clone(), said.clone());
            thread::spawn(move || {
                said.store(true, Ordering::Relaxed);
                source.event(READ);
            })
        };
        let other = {
            let (source, said) = (source.clone(), said.clone());
            thread::spawn(move || {
                block_on(source.until(READ, || said.load(Ordering::Relaxed)));
                // It waits for the next, and finds nothing.
                source.clear(READ, source.look(READ));
            })
        };
        block_on(source.until(READ, || said.load(Ordering::Relaxed)));
        signal.join().unwrap();
        other.join().unwrap();
    });
}

/// Property: whoever kicks the poller's thread, alone or with others, what it did before is seen by
/// the thread after a wait.
///
/// Seen to fail with: a `sleep_in_seat` that does not look for the token before it waits; no fence in `kick`; a `kick`
/// that leaves the token and does nothing else. (Not with a `sleep_in_seat` without its fence: in loom, an exchange
/// that fails has read the latest value.)
#[test]
fn no_kick_is_lost() {
    check(3, || {
        let kicks = Arc::new(Kicks::new());
        let said = [Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false))];
        let kickers = said.clone().map(|said| {
            let kicks = kicks.clone();
            thread::spawn(move || {
                said.store(true, Ordering::Relaxed);
                kicks.kick();
            })
        });
        let parker = kicks.parker();
        while !said.iter().all(|said| said.load(Ordering::Relaxed)) {
            kicks.wait(&parker);
        }
        kickers.into_iter().for_each(|kicker| kicker.join().unwrap());
    });
}
