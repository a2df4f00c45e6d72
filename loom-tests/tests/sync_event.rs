//! The events: a signal is neither lost nor doubled, whoever comes, goes or is in between.
#![cfg(loom)]

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread::{self, JoinHandle};
use windlass_sync::{AutoResetEvent, ManualResetEvent, block_on};

/// One poll, with a waker that tells nobody.
fn poll_once(future: Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn set_on_thread(event: &Arc<AutoResetEvent>) -> JoinHandle<()> {
    let event = event.clone();
    thread::spawn(move || event.set())
}

/// `set` lets a waiter through that it races with, which sees what came before and takes all of
/// the signal.
///
/// Fails when `try_set` also puts SET over WAITING, and when `announce` overwrites SET (deadlocks);
/// when the exchange in `try_set` is Relaxed, and when `take` leaves SET behind (assertions).
#[test]
fn auto_set_races_with_wait() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let told = Arc::new(AtomicUsize::new(0));
        let setter = thread::spawn({
            let (event, told) = (event.clone(), told.clone());
            move || {
                told.store(1, Relaxed);
                event.set();
            }
        });
        event.wait_blocking();
        assert_eq!(told.load(Relaxed), 1);
        assert!(!event.is_set());
        setter.join().unwrap();
        assert!(!event.is_set());
    });
}

/// Two sets release two queued waiters, each one, and nothing is left.
///
/// Fails when `release_one` withdraws although the queue is not empty (deadlock).
#[test]
fn auto_two_sets_two_queued() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let mut first = pin!(event.wait());
        let mut second = pin!(event.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(second.as_mut()).is_pending());
        let setters = [(); 2].map(|()| set_on_thread(&event));
        block_on(second);
        block_on(first);
        for setter in setters {
            setter.join().unwrap();
        }
        assert!(!event.is_set());
        event.set();
        assert!(event.is_set());
    });
}

/// Two sets and two waiters that come whenever they come: with one more set at the end, against
/// the case that the two became one, both get through.
///
/// Fails when `announce` overwrites SET, and when `release_one` withdraws although the queue is not
/// empty (deadlocks).
#[test]
fn auto_two_sets_two_waiters() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let setters = [(); 2].map(|()| set_on_thread(&event));
        let waiter = thread::spawn({
            let event = event.clone();
            move || event.wait_blocking()
        });
        let mut mine = pin!(event.wait());
        let done = poll_once(mine.as_mut()).is_ready();
        for setter in setters {
            setter.join().unwrap();
        }
        event.set();
        if !done {
            block_on(mine);
        }
        waiter.join().unwrap();
    });
}

/// A `set` that finds the event set still tells its news to whoever takes the signal.
///
/// Fails when `try_set` is content with having seen SET (deadlock: the taker misses the second
/// message and waits for a signal that was merged into the first).
#[test]
fn auto_merged_sets_tell_all() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let news = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let setters = [0, 1].map(|index: usize| {
            let (event, news) = (event.clone(), news.clone());
            thread::spawn(move || {
                news[index].store(1, Relaxed);
                event.set();
            })
        });
        while news.iter().any(|item| item.load(Relaxed) == 0) {
            event.wait_blocking();
        }
        for setter in setters {
            setter.join().unwrap();
        }
    });
}

/// The chosen waiter is dropped: the next one gets the signal, and it is one.
///
/// Fails when `Wait::drop` does not pass on a signal that it sees RELEASED, and when `cancel` does
/// not do so for one that came before it had the lock (deadlocks); and when `cancel` passes on
/// always (the assertion).
#[test]
fn auto_set_races_with_cancel_before_another() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let mut chosen = Box::pin(event.wait());
        let mut next = Box::pin(event.wait());
        assert!(poll_once(chosen.as_mut()).is_pending());
        assert!(poll_once(next.as_mut()).is_pending());
        let setter = set_on_thread(&event);
        drop(chosen);
        block_on(next);
        setter.join().unwrap();
        assert!(!event.is_set());
    });
}

/// The chosen waiter is dropped and there is no other: the event is set.
///
/// Fails when `Wait::drop` or `cancel` does not pass on, and when `release_one` drops the signal if
/// it finds the queue empty (the first assertion).
#[test]
fn auto_set_races_with_cancel_of_the_only_one() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let mut wait = Box::pin(event.wait());
        assert!(poll_once(wait.as_mut()).is_pending());
        let setter = set_on_thread(&event);
        drop(wait);
        setter.join().unwrap();
        assert!(event.is_set());
        event.wait_blocking();
        assert!(!event.is_set());
    });
}

/// Cancelling in the middle of the queue while all of it is released: one signal is left over, and
/// the queue is whole.
///
/// Fails when `unlink` does not mend the neighbours' links (loom stumbles over a freed waiter).
#[test]
fn auto_cancel_in_the_middle() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let mut first = Box::pin(event.wait());
        let mut middle = Box::pin(event.wait());
        let mut last = Box::pin(event.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(middle.as_mut()).is_pending());
        assert!(poll_once(last.as_mut()).is_pending());
        let setter = thread::spawn({
            let event = event.clone();
            move || {
                event.set();
                event.set();
                event.set();
            }
        });
        drop(middle);
        block_on(last);
        block_on(first);
        setter.join().unwrap();
        assert!(event.is_set());
        event.reset();
        let mut again = Box::pin(event.wait());
        assert!(poll_once(again.as_mut()).is_pending());
        event.set();
        assert!(poll_once(again.as_mut()).is_ready());
        assert!(!event.is_set());
    });
}

/// The first is dropped when the first two may have been released: the third gets what is left.
///
/// Fails when `remove` does not look whether the waiter is still queued: it would bring back the
/// second one, and the signal would go to that (deadlock).
#[test]
fn auto_cancel_of_the_first_of_three() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let mut first = Box::pin(event.wait());
        let mut second = Box::pin(event.wait());
        let mut third = Box::pin(event.wait());
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(second.as_mut()).is_pending());
        assert!(poll_once(third.as_mut()).is_pending());
        let setter = thread::spawn({
            let event = event.clone();
            move || {
                event.set();
                event.set();
            }
        });
        drop(first);
        block_on(third);
        block_on(second);
        setter.join().unwrap();
        assert!(!event.is_set());
    });
}

/// `reset` takes a kept signal, and nothing from a waiter.
///
/// Fails when `take` stores EMPTY whatever it finds (deadlock).
#[test]
fn auto_set_races_with_reset() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let setter = set_on_thread(&event);
        let mut wait = Box::pin(event.wait());
        let done = poll_once(wait.as_mut()).is_ready();
        event.reset();
        if !done {
            // It was queued before the reset, so the signal is its own, early or late.
            block_on(wait);
        }
        setter.join().unwrap();
        assert!(!event.is_set());
    });
}

/// A poll with another waker that races with `set`: one of the two notices, and sees what came
/// before the set.
///
/// Fails when `update_waker` does not look at the state again after it has been to the queue
/// (deadlock), and when the store in `pop_front` is Relaxed (assertion).
#[test]
fn auto_set_races_with_a_change_of_waker() {
    loom::model(|| {
        let event = Arc::new(AutoResetEvent::new(false));
        let mut wait = Box::pin(event.wait());
        assert!(poll_once(wait.as_mut()).is_pending());
        let told = Arc::new(AtomicUsize::new(0));
        let setter = thread::spawn({
            let (event, told) = (event.clone(), told.clone());
            move || {
                told.store(1, Relaxed);
                event.set();
            }
        });
        block_on(wait);
        assert_eq!(told.load(Relaxed), 1);
        setter.join().unwrap();
    });
}

/// `set` releases a queued waiter and one that comes at the same time; both find the event set
/// and see what came before.
///
/// Fails when `release_all` makes the state SET only after the queue is empty (assertion), when it
/// releases one waiter only, and when `announce` overwrites SET (deadlocks).
#[test]
fn manual_set_races_with_waits() {
    loom::model(|| {
        let event = Arc::new(ManualResetEvent::new(false));
        let told = Arc::new(AtomicUsize::new(0));
        let mut queued = Box::pin(event.wait());
        assert!(poll_once(queued.as_mut()).is_pending());
        let waiter = thread::spawn({
            let (event, told) = (event.clone(), told.clone());
            move || {
                event.wait_blocking();
                assert!(event.is_set());
                assert_eq!(told.load(Relaxed), 1);
            }
        });
        let setter = thread::spawn({
            let (event, told) = (event.clone(), told.clone());
            move || {
                told.store(1, Relaxed);
                event.set();
            }
        });
        block_on(queued);
        assert!(event.is_set());
        assert_eq!(told.load(Relaxed), 1);
        waiter.join().unwrap();
        setter.join().unwrap();
    });
}

/// A waiter that was queued when `set` came is released even if `reset` follows at once.
///
/// Fails when `poll` of a queued waiter goes by the event's state and not by its own (deadlock).
#[test]
fn manual_reset_after_set_keeps_nobody_back() {
    loom::model(|| {
        let event = Arc::new(ManualResetEvent::new(false));
        let mut wait = Box::pin(event.wait());
        assert!(poll_once(wait.as_mut()).is_pending());
        let setter = thread::spawn({
            let event = event.clone();
            move || {
                event.set();
                event.reset();
            }
        });
        block_on(wait);
        setter.join().unwrap();
        assert!(!event.is_set());
    });
}

/// A wait cancelled while the event is set leaves the other waiter and the event alone.
///
/// Fails when `cancel` withdraws although the waiter had been released (assertion), and when
/// `unlink` does not mend the neighbours' links (loom stumbles over a freed waiter).
#[test]
fn manual_set_races_with_cancel() {
    loom::model(|| {
        let event = Arc::new(ManualResetEvent::new(false));
        let mut dropped = Box::pin(event.wait());
        let mut kept = Box::pin(event.wait());
        assert!(poll_once(dropped.as_mut()).is_pending());
        assert!(poll_once(kept.as_mut()).is_pending());
        let setter = thread::spawn({
            let event = event.clone();
            move || event.set()
        });
        drop(dropped);
        block_on(kept);
        setter.join().unwrap();
        assert!(event.is_set());
    });
}
