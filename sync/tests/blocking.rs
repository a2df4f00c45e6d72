//! Blocking a thread: nested, after its thread-locals have been destroyed, and again after a panic.
#![cfg(not(loom))]

mod support;

use std::cell::RefCell;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::thread;

use support::{LONG, panic_message};
use windlass_sync::{AutoResetEvent, Latch, block_on};

#[test]
fn block_on_inside_block_on() {
    let event = AutoResetEvent::new(false);
    let answer = thread::scope(|scope| {
        scope.spawn(|| {
            event.set();
        });
        block_on(async {
            let inner = block_on(async {
                event.wait_blocking();
                20
            });
            event.set();
            event.wait().await;
            inner + 1
        })
    });
    assert_eq!(answer, 21);
}

/// A future that wakes itself before it returns has to be polled again.
#[test]
fn a_wake_during_the_poll_is_not_lost() {
    let mut left = 100;
    block_on(poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(());
        }
        left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    }));
}

#[test]
fn a_panic_in_the_future_leaves_the_thread_usable() {
    for _ in 0..3 {
        assert_eq!(panic_message(|| block_on(async { panic!("future") })), "future");
        AutoResetEvent::new(true).wait_blocking();
    }
}

/// A waker that outlives its wait unparks a thread that waits for something else by then.
#[test]
fn a_stale_waker_ends_no_other_wait() {
    let mut stale = None;
    block_on(poll_fn(|context| {
        stale = Some(context.waker().clone());
        Poll::Ready(())
    }));
    let event = AutoResetEvent::new(false);
    let set = AtomicBool::new(false);
    thread::scope(|scope| {
        let (event, set, stale) = (&event, &set, stale.unwrap());
        scope.spawn(move || {
            for _ in 0..1_000 {
                stale.wake_by_ref();
            }
            set.store(true, Ordering::Relaxed);
            event.set();
        });
        assert!(event.wait_timeout(LONG));
        assert!(set.load(Ordering::Relaxed));
    });
}

struct WaitsOnDrop(Arc<AutoResetEvent>, Arc<Latch>);

impl Drop for WaitsOnDrop {
    fn drop(&mut self) {
        self.0.set();
        self.0.wait_blocking();
        block_on(self.1.wait());
        assert!(!self.0.wait_timeout(std::time::Duration::from_millis(1)));
    }
}

thread_local! {
    static FIRST: RefCell<Option<WaitsOnDrop>> = const { RefCell::new(None) };
    static LAST: RefCell<Option<WaitsOnDrop>> = const { RefCell::new(None) };
}

/// One of the two thread-locals is destroyed before the thread's cached parker, the other one after it.
#[test]
fn waiting_in_the_destructor_of_a_thread_local() {
    let latch = Arc::new(Latch::new(1));
    let thread = thread::spawn({
        let latch = latch.clone();
        move || {
            let waits = || WaitsOnDrop(Arc::new(AutoResetEvent::new(false)), latch.clone());
            FIRST.set(Some(waits()));
            // Makes the thread's parker, by having to wait.
            let shut = Latch::new(1);
            assert!(!shut.wait_timeout(std::time::Duration::from_millis(1)));
            LAST.set(Some(waits()));
        }
    });
    latch.count_down();
    thread.join().unwrap();
}
