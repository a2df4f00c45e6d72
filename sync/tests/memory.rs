//! Children leave no memory behind in a long-lived parent, and waiting allocates nothing.
#![cfg(not(loom))]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::pin::pin;

use support::poll;
use windlass_sync::{AutoResetEvent, CancellationToken, Latch, ManualResetEvent, block_on};

/// Counts for each thread separately, because the test harness has threads of its own.
struct Counting;

thread_local! {
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size() as isize);
        CALLS.set(CALLS.get() + 1);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size() as isize);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn bytes() -> isize {
    BYTES.get()
}

fn calls() -> usize {
    CALLS.get()
}

#[test]
fn dropped_tokens_leave_nothing_behind() {
    let parent = CancellationToken::new();
    let before = bytes();
    for _ in 0..1_000_000 {
        drop(parent.child_token());
    }
    assert_eq!(bytes(), before, "a dropped child leaves nothing in its parent");
    let mut token = parent.child_token();
    let chain = bytes();
    for _ in 0..100_000 {
        token = token.child_token();
    }
    assert_eq!(bytes(), chain, "a token does not keep its ancestors alive");
    parent.cancel();
    assert!(token.is_cancelled());
    drop(token);
    assert_eq!(bytes(), before);
}

#[test]
fn waiting_allocates_nothing() {
    let (auto, manual) = (AutoResetEvent::new(false), ManualResetEvent::new(false));
    let latch = Latch::new(1);
    let token = CancellationToken::new();
    block_on(async {}); // Makes the thread's parker.
    let before = calls();
    for _ in 0..100 {
        assert!(poll(pin!(auto.wait())).is_pending());
        assert!(poll(pin!(manual.wait())).is_pending());
        assert!(poll(pin!(latch.wait())).is_pending());
        assert!(poll(pin!(token.cancelled())).is_pending());
        auto.set();
        auto.wait_blocking();
        assert!(!auto.wait_timeout(std::time::Duration::from_nanos(1)));
        {
            let (mut one, mut two) = (pin!(manual.wait()), pin!(manual.wait()));
            assert!(poll(one.as_mut()).is_pending() && poll(two.as_mut()).is_pending());
            manual.set();
            manual.reset();
            block_on(one);
            block_on(two);
        }
    }
    assert_eq!(calls(), before, "waiting allocates nothing");
}
