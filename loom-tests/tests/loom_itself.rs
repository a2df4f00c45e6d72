//! What loom gets wrong, where our code has to step around it. When one of these begins to fail, loom has
//! been mended, and the detour can go.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

/// A swap reads the value right before its own in the order of all values of a word. So a store that it did
/// not read is after it, and an exchange which follows that store finds what was stored, unless another
/// swap has taken it. loom puts the store before the swap that has not read it.
///
/// Hence `compare_exchange` in `Offer::take` and in the models' `TryLock`, where a swap would do, and no stores in a
/// slot's `Status`.
#[test]
#[should_panic(expected = "a store slipped under a swap")]
fn a_store_slips_under_a_swap_that_has_not_read_it() {
    loom::model(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let swapping = {
            let flag = flag.clone();
            thread::spawn(move || flag.swap(false, Ordering::AcqRel))
        };
        flag.store(true, Ordering::Relaxed);
        let exchanged =
            flag.compare_exchange(true, false, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        let swapped = swapping.join().unwrap();
        assert!(swapped != exchanged, "a store slipped under a swap");
    });
}
