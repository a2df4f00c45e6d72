//! An allocator that makes a use after free visible.
//!
//! loom does not know when the memory of its atomics is freed, and freed memory mostly keeps its
//! contents: a model could use a task or a pool after its end and never notice. Here freed memory
//! is overwritten, and kept for a while before it is given out again. An atomic in it names no
//! object of loom's any more, and a pointer in it points nowhere.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;

/// To be made the `#[global_allocator]` of a model.
#[derive(Debug)]
pub struct Poison;

/// What freed memory is filled with: as an address it is not canonical.
const FILL: u8 = 0xfb;
/// Blocks of these sizes are kept; tasks and pools are among them.
const KEPT: std::ops::RangeInclusive<usize> = 96..=(64 << 10);
/// How many blocks are kept.
const PLACES: usize = 64;

struct Kept {
    blocks: [(usize, Layout); PLACES],
    next: usize,
}

static KEPT_BLOCKS: Mutex<Kept> =
    Mutex::new(Kept { blocks: [(0, Layout::new::<()>()); PLACES], next: 0 });

// SAFETY: memory comes from the system's allocator and goes back there, each block once and with
// the layout it was asked for; in between nobody else has it.
unsafe impl GlobalAlloc for Poison {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller gives up a block of this size.
        unsafe { block.write_bytes(FILL, layout.size()) };
        let (block, layout) = if KEPT.contains(&layout.size()) {
            let mut kept = KEPT_BLOCKS.lock().unwrap_or_else(|e| e.into_inner());
            let place = kept.next;
            kept.next = (place + 1) % PLACES;
            let (oldest, layout) =
                std::mem::replace(&mut kept.blocks[place], (block as usize, layout));
            (oldest as *mut u8, layout)
        } else {
            (block, layout)
        };
        if !block.is_null() {
            // SAFETY: given up by its user, now or when it was kept, with this layout.
            unsafe { System.dealloc(block, layout) }
        }
    }
}
