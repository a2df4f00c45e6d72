//! A global allocator that can count what is live on the heap.
//!
//! Counting is off unless a memory workload switches it on: then every allocation pays one relaxed
//! load and a branch that is never taken, alike under every peer.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

static COUNTING: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicI64 = AtomicI64::new(0);
static BLOCKS: AtomicI64 = AtomicI64::new(0);

/// The system's allocator, with counters.
pub(crate) struct Counting;

/// What was allocated and not yet freed since counting began.
#[derive(Clone, Copy)]
pub(crate) struct Live {
    pub(crate) bytes: i64,
    pub(crate) blocks: i64,
}

/// Starts counting. What was allocated before and is freed later makes the counts fall, so take
/// differences.
pub(crate) fn start_counting() {
    COUNTING.store(true, Ordering::SeqCst);
}

pub(crate) fn live() -> Live {
    Live { bytes: BYTES.load(Ordering::SeqCst), blocks: BLOCKS.load(Ordering::SeqCst) }
}

fn count(bytes: i64, blocks: i64) {
    if COUNTING.load(Ordering::Relaxed) {
        BYTES.fetch_add(bytes, Ordering::Relaxed);
        BLOCKS.fetch_add(blocks, Ordering::Relaxed);
    }
}

fn size(bytes: usize) -> i64 {
    // A Layout's size never exceeds isize::MAX.
    bytes as i64
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches only
// atomics and never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()), 1);
        // SAFETY: the caller keeps the contract of `alloc`, which is the same here.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()), 1);
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-size(layout.size()), -1);
        // SAFETY: `block` came from one of the calls above, hence from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(size(new_size) - size(layout.size()), 0);
        // SAFETY: as in `dealloc`; the caller vouches for `new_size`.
        unsafe { System.realloc(block, layout, new_size) }
    }
}
