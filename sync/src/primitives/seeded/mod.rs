//! A seeded scheduler for models that are too large for loom.
//!
//! With `--cfg loom --cfg windlass_seeded` the atomics, locks and threads of [`primitives`](super) come from here.
//! Everything in the tree that exists for loom's sake (a clock that stands still, a stand-in for the OS, the doors of
//! the models) serves this scheduler too. The threads of a model are threads of the OS, but only one of them runs at a
//! time. Before each access to a shared word a random number decides whether another thread takes its place.
//!
//! loom tries all interleavings of a small model, and knows which old values a load may see. This scheduler tries some
//! thousand interleavings of a model of any size, and every load sees the newest value. It finds a lost wake-up, a
//! wrong count or a deadlock, but not an ordering that is too weak. They complement each other.
//!
//! A model fails if it panics anywhere, if no thread can go on, or if it has no end. The message names the
//! seed, and with the same seed the same threads run in the same order. The threads of a model that has failed
//! are left where they stand.
//!
//! - `schedule`: whose turn it is.
//! - `atomics`, `locks`, `threads`: stand-ins for those of `std`, which ask it.

mod atomics;
mod locks;
mod schedule;
mod threads;

use std::sync::{Arc, Once};

pub use atomics::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, UnsafeCell, fence,
};
pub use locks::{Condvar, Mutex, MutexGuard, TryLock, TryLockGuard};
pub use threads::{hint, thread};

use schedule::Run;

/// Runs a model `schedules` times, or `WINDLASS_SCHEDULES` times if that is set. Each run has a seed of its own,
/// beginning with `WINDLASS_SEED`, or 0.
///
/// # Panics
///
/// Panics if the model fails, with the seed.
pub fn check(schedules: u64, model: impl Fn() + Send + Sync + 'static) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match schedule::current() {
            // Tasks catch the panics of their futures, but the thread gets no further than its next step.
            Some((run, _)) => run.fail(&info.to_string()),
            None => report(info),
        }));
    });
    let number = |name| std::env::var(name).ok().map(|text| text.parse().expect(name));
    let first: u64 = number("WINDLASS_SEED").unwrap_or(0);
    let schedules = number("WINDLASS_SCHEDULES").unwrap_or(schedules);
    let model = Arc::new(model);
    for seed in first..first + schedules {
        let steps = run_once(seed, &model);
        // If time or addresses decided anything, a seed would be worthless.
        if seed - first < 3 {
            let again = run_once(seed, &model);
            assert_eq!(steps, again, "seed {seed} is not the same model twice");
        }
    }
}

/// Returns the number of steps, and a digest of the order in which the threads took them.
fn run_once(seed: u64, model: &Arc<impl Fn() + Send + Sync + 'static>) -> (usize, u64) {
    let run = Run::new(seed);
    let model = model.clone();
    let first = threads::start_first(&run, move || model());
    let result = run.wait_for_end();
    match result {
        Ok(steps) => {
            first.join().expect("its panics were reported");
            steps
        }
        Err(message) => panic!(
            "seed {seed}: {message}\n    WINDLASS_SEED={seed} WINDLASS_SCHEDULES=1 runs it again"
        ),
    }
}
