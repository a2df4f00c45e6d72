//! The latch: all waiters are released, and no thread accesses it after it may have been freed.
#![cfg(loom)]

use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::pin;
use std::sync::Arc as StdArc;
use std::task::{Context, Waker};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use windlass_sync::{Latch, block_on};

/// A latch that the waiter frees while counters may still be inside its methods.
///
/// The memory itself stays allocated, in an `Arc` that loom does not see, so that it orders nothing. Only
/// the latch in it is dropped. In a model, the drop counts as a write to the state word and to the queue's
/// mutex, and loom reports every access that is not ordered before it.
struct Frame(std::cell::UnsafeCell<MaybeUninit<Latch>>);

// SAFETY: the latch inside is `Send` and `Sync`; the models decide which thread drops it.
unsafe impl Sync for Frame {}
// SAFETY: as for `Sync`.
unsafe impl Send for Frame {}

impl Frame {
    fn new(count: usize) -> StdArc<Self> {
        StdArc::new(Self(std::cell::UnsafeCell::new(MaybeUninit::new(Latch::new(count)))))
    }

    fn latch(&self) -> &Latch {
        // SAFETY: the latch is alive until `free`. The models test that no thread uses it later.
        unsafe { (*self.0.get()).assume_init_ref() }
    }

    fn free(&self) {
        // SAFETY: called once, by the waiter.
        unsafe { (*self.0.get()).assume_init_drop() }
    }
}

/// Enters the queue of the latch and leaves it again.
fn give_up(latch: &Latch) {
    let wait = pin!(latch.wait());
    let _ = wait.poll(&mut Context::from_waker(Waker::noop()));
}

/// For models in which two threads have to switch twice.
fn model_with_three_preemptions(f: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = model.preemption_bound.max(Some(3));
    model.check(f);
}

/// The waiter frees the latch as soon as its wait returns: the counter does not access it any more.
///
/// Fails when `open_locked` takes the lock again after waking, and when `try_take` or the exchange
/// in `try_count_down` is Relaxed.
#[test]
fn count_down_wait_free() {
    loom::model(|| {
        let frame = Frame::new(1);
        let thread = thread::spawn({
            let frame = frame.clone();
            move || frame.latch().count_down()
        });
        frame.latch().wait_blocking();
        frame.free();
        thread.join().unwrap();
    });
}

/// As above, with two counters, either of which may find the waiter in the queue.
///
/// Fails when `settle` does nothing: the waiter has to wait for the lock, and to synchronize with the first counter.
#[test]
fn two_counters_wait_free() {
    loom::model(|| {
        let frame = Frame::new(2);
        let threads = [(); 2].map(|()| {
            let frame = frame.clone();
            thread::spawn(move || frame.latch().count_down())
        });
        frame.latch().wait_blocking();
        frame.free();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

/// A waiter leaves the queue, and then learns from `is_open` that it may free the latch.
///
/// Fails when `open_locked` writes OPEN instead of OPENING, always or if it finds ENLISTED cleared, and when
/// `count` does not settle.
#[test]
fn cancelled_wait_then_free() {
    model_with_three_preemptions(|| {
        let frame = Frame::new(1);
        let thread = thread::spawn({
            let frame = frame.clone();
            move || frame.latch().count_down()
        });
        give_up(frame.latch());
        let open = frame.latch().is_open();
        if open {
            frame.free();
        }
        thread.join().unwrap();
        if !open {
            frame.free();
        }
    });
}

/// As above, with two counters: the first may have seen a waiter that the second does not see.
///
/// Fails when a counter that is not the last subtracts under the lock.
#[test]
fn cancelled_wait_two_counters_then_free() {
    model_with_three_preemptions(|| {
        let frame = Frame::new(2);
        let threads = [(); 2].map(|()| {
            let frame = frame.clone();
            thread::spawn(move || frame.latch().count_down())
        });
        give_up(frame.latch());
        let open = frame.latch().is_open();
        if open {
            frame.free();
        }
        for thread in threads {
            thread.join().unwrap();
        }
        if !open {
            frame.free();
        }
    });
}

/// All waiters are released, and see what all counters did before.
///
/// Fails when the exchange in `try_count_down` is Relaxed, when `settle_locked` does not acquire
/// (assertions), and when `open_locked` releases only one waiter (deadlock).
#[test]
fn two_waiters_see_the_counters() {
    loom::model(|| {
        let latch = Arc::new(Latch::new(2));
        let done = Arc::new(AtomicUsize::new(0));
        let counter = thread::spawn({
            let (latch, done) = (latch.clone(), done.clone());
            move || {
                done.fetch_add(1, Relaxed);
                latch.count_down();
            }
        });
        let waiter = thread::spawn({
            let (latch, done) = (latch.clone(), done.clone());
            move || {
                latch.wait_blocking();
                assert_eq!(done.load(Relaxed), 2);
            }
        });
        done.fetch_add(1, Relaxed);
        latch.count_down();
        block_on(latch.wait());
        assert_eq!(done.load(Relaxed), 2);
        counter.join().unwrap();
        waiter.join().unwrap();
    });
}

/// A wait that is cancelled while the latch opens does not affect the other waiter.
///
/// Fails when `unlink` does not update the neighbours' links (loom reports an access to a freed waiter), and
/// when `cancel` withdraws while others are in the queue (deadlock).
#[test]
fn cancel_beside_another_waiter() {
    loom::model(|| {
        let latch = Arc::new(Latch::new(1));
        let counter = thread::spawn({
            let latch = latch.clone();
            move || latch.count_down()
        });
        let waiter = thread::spawn({
            let latch = latch.clone();
            move || latch.wait_blocking()
        });
        give_up(&latch);
        counter.join().unwrap();
        waiter.join().unwrap();
    });
}
