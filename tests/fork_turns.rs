//! Computations without split points of their own, one after the other: tasks get their turn between them.

mod util;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use util::wait_for;
use windlass::{Builder, Handle, compute, scope};

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

/// More jobs than are run before the task, each of them shorter than it takes for a spare to come.
const JOBS: usize = 20_000;

/// Jobs that are short once a task has been polled, and the number of those that were not.
struct Jobs {
    polled: Arc<AtomicBool>,
    long: AtomicUsize,
}

impl Jobs {
    fn new() -> Self {
        Self { polled: Arc::new(AtomicBool::new(false)), long: AtomicUsize::new(0) }
    }

    /// Spawns the task that is to be polled.
    fn spawn_task(&self, handle: &Handle) {
        let polled = self.polled.clone();
        drop(handle.spawn(async move { polled.store(true, Ordering::Relaxed) }));
    }

    fn run(&self) {
        if !self.polled.load(Ordering::Relaxed) {
            self.long.fetch_add(1, Ordering::Relaxed);
            burn(Duration::from_micros(150));
        }
    }

    #[track_caller]
    fn expect_task_between(self) {
        assert!(self.long.into_inner() < JOBS, "no task was polled between them");
    }
}

/// The worker counted each job as progress, so that no spare came, and came to no task before the last.
#[test]
fn tasks_get_their_turn_between_the_jobs_of_a_scope_that_waits() {
    for spares in [None, Some(0)] {
        let builder = Builder::new().workers(1);
        let builder = spares.map_or(builder.clone(), |spares| builder.max_spares(spares));
        let runtime = builder.build().unwrap();
        let _entered = runtime.enter();
        let handle = runtime.handle().clone();
        let computation = compute(move || {
            let (jobs, first) = (Jobs::new(), AtomicBool::new(true));
            scope(|s| {
                for _ in 0..JOBS {
                    s.spawn(|_| {
                        if first.swap(false, Ordering::Relaxed) {
                            jobs.spawn_task(&handle);
                        }
                        jobs.run();
                    });
                }
            });
            jobs.expect_task_between();
        });
        wait_for(computation).unwrap();
    }
}
