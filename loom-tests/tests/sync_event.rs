//! The events: no signal is lost or duplicated, whichever waiters arrive, leave or are being released.
#![cfg(loom)]

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread::{self, JoinHandle};
use windlass_sync::{AutoResetEvent, ManualResetEvent, block_on};

/// Polls once, with a waker that does nothing.
fn poll_once(future: Pin<&mut impl Future<Output = ()>>) -> Poll<()> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn set_on_thread(event: &Arc<AutoResetEvent>) -> JoinHandle<()> {
    let event = event.clone();
    thread::spawn(move || event.set())
}

/// `set` releases a waiter that it races with. The waiter sees what came before the `set`, and takes the whole signal.
///
/// Fails when `try_set` also writes SET over WAITING, and when `announce` overwrites SET (deadlocks);
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

/// Two calls of `set` release two queued waiters, and no signal is left.
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

/// Two calls of `set` and two waiters at any time: with one more `set` at the end, in case the first two were merged,
/// both waiters are released.
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

/// A `set` that finds the event set is still visible to the waiter that takes the signal.
///
/// Fails when `try_set` returns as soon as it reads SET (deadlock: the waiter misses the second
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

/// The released waiter is dropped: the next one gets the signal, exactly once.
///
/// Fails when `Wait::drop` does not pass on a signal that it sees RELEASED, and when `cancel` does
/// not do so for one that came before it had the lock (deadlocks), and when `cancel` always
/// passes it on (the assertion).
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

/// The released waiter is dropped and there is no other: the event is set.
///
/// Fails when `Wait::drop` or `cancel` does not pass the signal on, and when `release_one` drops the signal if
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

/// A waiter in the middle of the queue is cancelled while all are released: one signal is left over, and the queue is
/// intact.
///
/// Fails when `unlink` does not update the neighbours' links (loom reports an access to a freed waiter).
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

/// The first waiter is dropped when the first two may have been released: the third gets the signal that is left.
///
/// Fails when `remove` does not check whether the waiter is still queued: it would link the second one again, which
/// would get the signal (deadlock).
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

/// `reset` removes a signal that no waiter has taken, and no other.
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

/// A poll with another waker races with `set`: either the poll is ready or the waker is woken, and the waiter sees what
/// came before the `set`.
///
/// Fails when `update_waker` does not read the state again after it has accessed the queue (deadlock), and when the
/// store in `pop_front` is Relaxed (assertion).
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

/// `set` releases a queued waiter and one that arrives at the same time. Both find the event set, and see what came
/// before.
///
/// Fails when `release_all` makes the state SET only after the queue is empty (assertion), when it
/// releases only one waiter, and when `announce` overwrites SET (deadlocks).
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

/// A waiter that was queued when `set` was called is released, even if `reset` follows at once.
///
/// Fails when `poll` of a queued waiter uses the event's state instead of its own (deadlock).
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

/// A wait that is cancelled while `set` is called affects neither the other waiter nor the event.
///
/// Fails when `cancel` withdraws although the waiter had been released (assertion), and when
/// `unlink` does not update the neighbours' links (loom reports an access to a freed waiter).
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
