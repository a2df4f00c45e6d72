//! The LIFO slot: a task in it goes to one of its owner and its thieves.
#![cfg(loom)]

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use windlass_loom_tests::{Drops, Poison, check};
use windlass_runtime::model::{LifoSlot, Ready};

#[global_allocator]
static POISON: Poison = Poison;

/// Property: with the owner filling and emptying the slot and two thieves at it, every task is run
/// once, by a thread that sees it as its owner made it.
///
/// Seen to fail with: `put` with a Relaxed store or swap; `take` with a Relaxed swap; `take` made of a load
/// and a store; `put` that stores without a look.
#[test]
fn owner_and_thieves() {
    check(4, || {
        let drops = Drops::default();
        let ready = Ready::new();
        let slot = Arc::new(LifoSlot::new());
        let thieves = [(); 2].map(|()| {
            let slot = slot.clone();
            thread::spawn(move || {
                if let Some(runnable) = slot.take() {
                    runnable.run();
                }
            })
        });
        let tick = AtomicUsize::new(0);
        for _ in 0..2 {
            // Without it, loom could not tell the making of a task from the step before.
            tick.fetch_add(1, Ordering::Relaxed);
            let guard = drops.guard();
            let (runnable, handle) = ready.task(async move { drop(guard) });
            drop(handle);
            if let Some(evicted) = slot.put(runnable) {
                evicted.run();
            }
        }
        if let Some(runnable) = slot.take() {
            runnable.run();
        }
        for thief in thieves {
            thief.join().unwrap();
        }
        assert!(slot.take().is_none());
        assert_eq!(ready.released(), 2);
        assert_eq!(drops.count(), 2);
    });
}
