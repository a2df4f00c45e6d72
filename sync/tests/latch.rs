//! `Latch`: the count is exact, all waiters are released, and it may be freed at once.
#![cfg(not(loom))]

mod support;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use support::{Counter, LONG, OnWake, panic_message, poll, poll_with};
use windlass_sync::{AutoResetEvent, Latch, block_on};

#[test]
fn opens_at_zero_and_stays_open() {
    let latch = Latch::new(2);
    assert!(!latch.wait_timeout(Duration::ZERO));
    latch.count_down();
    assert_eq!(latch.count(), 1);
    assert!(!latch.is_open());
    latch.count_down();
    assert!(latch.is_open());
    latch.wait_blocking();
    block_on(latch.wait());
    assert!(latch.wait_timeout(Duration::ZERO));
}

#[test]
fn a_latch_of_zero_is_open() {
    let latch = Latch::new(0);
    latch.wait_blocking();
    assert!(latch.is_open());
}

#[test]
fn counting_an_open_latch_panics_and_says_what_to_do() {
    let latch = Latch::new(1);
    latch.count_down();
    let message = panic_message(|| latch.count_down());
    assert!(message.contains("already open") && message.contains("try_count_down"), "{message}");
    assert!(latch.is_open());
}

#[test]
fn a_count_that_does_not_fit_panics() {
    let message = panic_message(|| assert!(Latch::new(usize::MAX).is_open()));
    assert!(message.contains("usize::MAX / 2"), "{message}");
    assert_eq!(Latch::new(usize::MAX / 2).count(), usize::MAX / 2);
}

#[test]
fn try_count_down_is_all_or_nothing() {
    let latch = Latch::new(5);
    assert!(!latch.try_count_down(6));
    assert!(!latch.try_count_down(usize::MAX));
    assert_eq!(latch.count(), 5);
    assert!(latch.try_count_down(0));
    assert!(latch.try_count_down(3));
    assert!(!latch.try_count_down(3));
    let mut wait = pin!(latch.wait());
    assert!(poll(wait.as_mut()).is_pending());
    assert!(!latch.try_count_down(3));
    assert!(latch.try_count_down(2));
    assert!(poll(wait.as_mut()).is_ready());
    assert!(latch.try_count_down(0));
    assert!(!latch.try_count_down(1));
}

#[test]
fn releases_more_waiters_than_fit_a_batch() {
    let latch = Latch::new(1);
    let mut waits: Vec<_> = (0..500).map(|_| Box::pin(latch.wait())).collect();
    let (counter, waker) = Counter::new();
    for wait in &mut waits {
        assert!(poll_with(wait.as_mut(), &waker).is_pending());
    }
    latch.count_down();
    assert_eq!(counter.count(), waits.len());
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_ready());
    }
}

#[test]
fn cancelled_waits_leave_the_count_alone() {
    let latch = Latch::new(1);
    let mut waits: Vec<_> = (0..3).map(|_| Box::pin(latch.wait())).collect();
    for wait in &mut waits {
        assert!(poll(wait.as_mut()).is_pending());
    }
    drop(waits.remove(1));
    assert!(!latch.wait_timeout(Duration::from_millis(1)));
    drop(waits);
    assert_eq!(latch.count(), 1);
    latch.count_down();
    assert!(latch.is_open());
}

#[test]
fn a_panicking_waker_does_not_keep_others_asleep() {
    let latch = Latch::new(1);
    let mut waits: Vec<_> = (0..40).map(|_| Box::pin(latch.wait())).collect();
    let (counter, counting) = Counter::new();
    for (index, wait) in waits.iter_mut().enumerate() {
        let panicking = OnWake::waker(|| panic!("waker"));
        let waker = if index == 0 || index == 35 { &panicking } else { &counting };
        assert!(poll_with(wait.as_mut(), waker).is_pending());
    }
    assert_eq!(panic_message(|| latch.count_down()), "waker");
    assert_eq!(counter.count(), 38);
    assert!(latch.is_open());
}

#[test]
fn a_waker_may_use_the_same_latch() {
    let latch = Arc::new(Latch::new(1));
    let mut wait = pin!(latch.wait());
    let waker = OnWake::waker({
        let latch = latch.clone();
        move || {
            latch.wait_blocking();
            assert!(latch.is_open());
        }
    });
    assert!(poll_with(wait.as_mut(), &waker).is_pending());
    latch.count_down();
    assert!(poll(wait.as_mut()).is_ready());
}

#[test]
fn waiters_see_what_all_counters_did() {
    const THREADS: usize = 4;
    for _ in 0..200 {
        let latch = Latch::new(THREADS);
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    done.fetch_add(1, Ordering::Relaxed);
                    latch.count_down();
                });
            }
            scope.spawn(|| {
                assert!(latch.wait_timeout(LONG));
                assert_eq!(done.load(Ordering::Relaxed), THREADS);
            });
            block_on(latch.wait());
            assert_eq!(done.load(Ordering::Relaxed), THREADS);
        });
    }
}

/// The waiter's frame, with the latch in it, is gone and overwritten while the counter may still be
/// inside `count_down`. A sanitizer, or the poison, makes this test fail.
#[test]
fn freed_right_after_the_wait() {
    const ROUNDS: usize = 10_000;
    let slot = AtomicPtr::<Latch>::new(std::ptr::null_mut());
    let offered = AutoResetEvent::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                assert!(offered.wait_timeout(LONG));
                let latch = slot.load(Ordering::Acquire);
                // SAFETY: the latch is there until it is open, and `count_down` does not touch it
                // after having opened it.
                unsafe { (*latch).count_down() };
            }
        });
        for round in 0..ROUNDS {
            let latch = Box::into_raw(Box::new(Latch::new(1)));
            slot.store(latch, Ordering::Release);
            offered.set();
            // SAFETY: this thread owns the box; the other one is done with it when the wait is.
            unsafe {
                match round % 4 {
                    0 => (*latch).wait_blocking(),
                    1 => block_on((*latch).wait()),
                    2 => assert!((*latch).wait_timeout(LONG)),
                    _ => {
                        while !(*latch).is_open() {
                            // Comes and goes, so that the counter meets waiters that vanish.
                            let _ = poll(pin!((*latch).wait()));
                        }
                    }
                }
                std::ptr::write_bytes(latch.cast::<u8>(), 0xA5, size_of::<Latch>());
                drop(Box::from_raw(latch.cast::<std::mem::MaybeUninit<Latch>>()));
            }
        }
    });
}
