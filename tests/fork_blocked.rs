//! Tasks that block beside computations: neither tasks nor computations wait for them.

mod util;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use util::{Count, Gate, OpenOnDrop, PATIENCE, runtime, wait_for, wait_until, within_patience};
use windlass::task::block_in_place;
use windlass::{Builder, Runtime, compute, join, worker_index};

/// Lets computations run until it is dropped.
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn new() -> Self {
        Self(Arc::new(AtomicBool::new(false)))
    }

    fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn burn(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Begins a computation with split points this far apart, and returns after this many of them.
fn compute_on(runtime: &Runtime, leaf: Duration, splits: usize, stop: &Stop) {
    let (had, stop) = (Count::new(), stop.flag());
    let _entered = runtime.enter();
    drop(compute({
        let had = had.clone();
        move || {
            while !stop.load(Ordering::Relaxed) {
                join(|| burn(leaf), || burn(leaf));
                had.add();
            }
        }
    }));
    had.wait_for(splits);
}

/// Spawns a task that blocks until the gate opens, and returns when it does, with the name of the thread.
fn block_on_worker(runtime: &Runtime, release: &Gate) -> String {
    let (begun, release) = (mpsc::channel(), release.clone());
    drop(runtime.spawn(async move {
        begun.0.send(thread::current().name().unwrap_or_default().to_owned()).unwrap();
        release.wait();
    }));
    begun.1.recv_timeout(PATIENCE).unwrap()
}

/// Keeps tasks waiting until a spare has come.
fn start_spare(runtime: &Runtime) {
    wait_until("a spare comes", || {
        drop(runtime.spawn(async {}));
        runtime.metrics().spares_active > 0
    });
}

#[test]
fn a_task_that_blocks_the_spare_of_a_computation_stops_nobody() {
    let runtime = runtime(1);
    let stop = Stop::new();
    // The first look at the clock comes after 64.
    compute_on(&runtime, Duration::from_millis(1), 100, &stop);
    // The worker itself may be faster, between two leaves.
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let release = Gate::new();
        let _open = OpenOnDrop(release.clone());
        start_spare(&runtime);
        let thread = block_on_worker(&runtime, &release);
        assert_eq!(wait_for(runtime.spawn(async { 1 })).unwrap(), 1);
        if thread.contains("spare") {
            return;
        }
    }
    panic!("the spare never came first");
}

#[test]
fn a_computation_begins_beside_one_worker_that_computes_and_one_that_blocks() {
    for _ in 0..5 {
        let runtime = runtime(2);
        let (stop, release) = (Stop::new(), Gate::new());
        let _open = OpenOnDrop(release.clone());
        let leaf = stop.flag();
        let begun = Count::new();
        let _entered = runtime.enter();
        // A leaf, so that a spare comes for tasks alone.
        drop(compute({
            let begun = begun.clone();
            move || {
                begun.add();
                while !leaf.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        }));
        begun.wait_for(1);
        block_on_worker(&runtime, &release);
        start_spare(&runtime);
        assert_eq!(wait_for(compute(|| 1)).unwrap(), 1);
    }
}

#[test]
fn a_task_that_blocks_in_the_middle_of_a_computation_may_wait_for_another() {
    // A spare may be faster than the worker's next split point.
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let runtime = runtime(1);
        let (stop, release) = (Stop::new(), Gate::new());
        let _open = OpenOnDrop(release.clone());
        compute_on(&runtime, Duration::from_micros(5), 1, &stop);
        let thread = block_on_worker(&runtime, &release);
        // If it is the spare that is blocked, the worker goes on when the first computation ends.
        drop(stop);
        let _entered = runtime.enter();
        let opened = compute({
            let release = release.clone();
            move || release.open()
        });
        wait_for(opened).unwrap();
        if !thread.contains("spare") {
            return;
        }
    }
    panic!("the worker never came first");
}

/// A posted job was no reason to send a spare, although it is one that waits for any worker.
#[test]
fn a_closure_that_is_installed_from_outside_waits_for_no_task_that_blocks() {
    for says_so in [false, true] {
        let (runtime, release) = (runtime(1), Gate::new());
        let _open = OpenOnDrop(release.clone());
        let begun = Gate::new();
        drop(runtime.spawn({
            let (begun, release) = (begun.clone(), release.clone());
            async move {
                let blocks = || {
                    begun.open();
                    release.wait();
                };
                if says_so { block_in_place(blocks) } else { blocks() }
            }
        }));
        begun.wait();
        let handle = runtime.handle().clone();
        let install = move || handle.install(|| (handle.is_current(), worker_index()));
        let here = within_patience("a closure on a spare", install);
        assert_eq!(here, (true, None));
    }
}

/// A join that has ended says nothing about what the task does next.
#[test]
fn tasks_that_block_after_a_join_may_wait_for_a_computation() {
    let runtime = runtime(2);
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            runtime.spawn(async {
                join(|| (), || ());
                windlass::scope(|s| s.spawn(|_| ()));
                let (done, is_done) = mpsc::channel();
                drop(compute(move || done.send(())));
                is_done.recv_timeout(PATIENCE / 2).is_ok()
            })
        })
        .collect();
    for task in tasks {
        assert!(wait_for(task).unwrap(), "nobody begins it");
    }
}

/// It would have to wait for a lock that its own thread holds.
#[test]
fn a_worker_that_waits_in_a_join_runs_no_task() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let lock = Arc::new(Mutex::new(0));
    let (stolen, release) = (Gate::new(), OpenOnDrop(Gate::new()));
    let joins = runtime.spawn({
        let (lock, stolen, release) = (lock.clone(), stolen.clone(), release.0.clone());
        async move {
            let mut held = lock.lock().unwrap();
            join(
                || stolen.wait(),
                || {
                    stolen.open();
                    release.wait();
                },
            );
            *held += 1;
        }
    });
    stolen.wait();
    // One worker waits for the other, which is stuck in a job.
    let begun = Count::new();
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let (lock, begun) = (lock.clone(), begun.clone());
            runtime.spawn(async move {
                begun.add();
                *lock.lock().unwrap() += 1;
            })
        })
        .collect();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(50) {
        assert_eq!(begun.get(), 0, "a task has begun");
        thread::yield_now();
    }
    release.0.open();
    wait_for(joins).unwrap();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
    assert_eq!(*lock.lock().unwrap(), 11);
}

/// A computation inside a task that is polled in place has split points too, but they help nobody: nothing is polled at
/// them, so a spare must come for the tasks that wait.
#[test]
fn a_computing_task_in_the_middle_of_a_computation_keeps_nobody_waiting() {
    let runtime = runtime(1);
    let stop = Stop::new();
    compute_on(&runtime, Duration::from_micros(2), 1_000, &stop);
    let (begun, released) = (mpsc::channel(), Gate::new());
    let joins = runtime.spawn({
        let released = released.clone();
        async move {
            begun.0.send(()).unwrap();
            let since = Instant::now();
            while !released.is_open() && since.elapsed() < PATIENCE / 2 {
                join(|| burn(Duration::from_micros(2)), || ());
            }
            released.is_open()
        }
    });
    begun.1.recv_timeout(PATIENCE).unwrap();
    drop(runtime.spawn({
        let released = released.clone();
        async move { released.open() }
    }));
    assert!(wait_for(joins).unwrap(), "the other task had to wait");
}

/// A guest counts as a thread that computes, which leaves room for one worker. If it blocks, it is no reason to leave
/// the other one asleep.
#[test]
fn a_guest_that_blocks_keeps_no_worker_from_its_jobs() {
    let runtime = runtime(2);
    let _entered = runtime.enter();
    let (both, done) = (std::sync::Barrier::new(2), std::sync::Barrier::new(3));
    windlass::scope_in_place(|scope| {
        for _ in 0..2 {
            scope.spawn(|_| {
                both.wait();
                done.wait();
            });
        }
        // Blocks until both jobs run at the same time, which the caller does not take part in.
        done.wait();
    });
}
