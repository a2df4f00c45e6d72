//! Computations without split points of their own, one after the other: tasks get their turn between them.

mod util;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use util::wait_for;
use windlass::{Builder, Handle};

fn burn(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Computes, and has a worker do the same once more at the end, until it is told to stop.
fn compute_again_and_again(handle: &Handle, leaf: Duration, stop: Arc<AtomicBool>) {
    let again = handle.clone();
    drop(handle.compute(move || {
        burn(leaf);
        if !stop.load(Ordering::Relaxed) {
            compute_again_and_again(&again, leaf, stop);
        }
    }));
}

/// A worker that had computed for some 50 µs looked at the queue of computations first, so that it never came to
/// anything else; and as it went from one to the next, the monitor took it to come to the tasks by itself.
#[test]
fn tasks_get_their_turn_beside_endless_computations() {
    for (leaf, spares) in [(10, Some(0)), (150, None), (150, Some(0)), (5_000, Some(0))] {
        let builder = Builder::new().workers(1);
        let builder = spares.map_or(builder.clone(), |spares| builder.max_spares(spares));
        let runtime = builder.build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        compute_again_and_again(runtime.handle(), Duration::from_micros(leaf), stop.clone());
        wait_for(runtime.spawn(async {})).unwrap();
        let from_within = runtime.spawn(async { windlass::spawn(async {}).await });
        wait_for(from_within).unwrap().unwrap();
        wait_for(runtime.spawn(windlass::timer::sleep(Duration::from_millis(1)))).unwrap();
        assert_eq!(runtime.handle().install(|| 1), 1, "posted jobs wait for no end of them either");
        stop.store(true, Ordering::Relaxed);
    }
}
