//! rayon on the thread that drives a manual loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;

const PATIENCE: Duration = Duration::from_secs(120);

/// Calls `f` on a thread of its own, which may get stuck.
fn in_time<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(f()));
    receiver.recv_timeout(PATIENCE).expect("it comes to an end, in time")
}

fn sum() -> u64 {
    (0..1_000_u64).into_par_iter().sum()
}

#[test]
fn a_thread_that_has_entered_a_loop_is_served_by_the_global_runtime() {
    let ran = in_time(|| {
        let tasks = windlass::Builder::new().build_manual().expect("a loop is built");
        let _entered = tasks.handle().enter();
        let ran = Arc::new(AtomicUsize::new(0));
        let count = || _ = ran.fetch_add(1, Ordering::Relaxed);
        rayon::scope(|s| s.spawn(|_| count()));
        rayon::in_place_scope(|s| s.spawn(|_| count()));
        rayon::in_place_scope_fifo(|s| s.spawn_fifo(|_| count()));
        let (sender, receiver) = mpsc::channel();
        rayon::spawn(move || sender.send(()).expect("the thread waits"));
        receiver.recv_timeout(PATIENCE).expect("it is run");
        assert_eq!(sum(), 499_500);
        ran.load(Ordering::Relaxed)
    });
    assert_eq!(ran, 3);
}

/// Drives a loop until `ran` reaches a number.
fn drive(tasks: &mut windlass::manual::Loop, ran: &AtomicUsize, all: usize) {
    let end = Instant::now() + PATIENCE;
    while ran.load(Ordering::Relaxed) < all {
        assert!(Instant::now() < end, "{} of {all} have run", ran.load(Ordering::Relaxed));
        let ready = tasks.ready_tasks(Some(Duration::from_millis(10))).expect("it waits");
        ready.for_each(|runnable| runnable.run());
    }
}

#[test]
fn a_task_of_a_loop_computes_and_spawns() {
    let ran = Arc::new(AtomicUsize::new(0));
    let mut tasks = windlass::Builder::new().build_manual().expect("a loop is built");
    let (first, second, third) = (ran.clone(), ran.clone(), ran.clone());
    drop(tasks.spawn_local(async move {
        assert_eq!(rayon::current_thread_index(), Some(0));
        assert_eq!(sum(), 499_500);
        rayon::scope(|s| s.spawn(|_| _ = first.fetch_add(1, Ordering::Relaxed)));
        rayon::spawn(move || _ = second.fetch_add(1, Ordering::Relaxed));
        rayon::spawn_broadcast(move |_| _ = third.fetch_add(1, Ordering::Relaxed));
    }));
    drive(&mut tasks, &ran, 3);
}

#[test]
fn a_loop_that_is_dropped_runs_what_was_posted() {
    let ran = Arc::new(AtomicUsize::new(0));
    let mut tasks = windlass::Builder::new().build_manual().expect("a loop is built");
    let (begun, posted) = (ran.clone(), ran.clone());
    drop(tasks.spawn_local(async move {
        rayon::spawn_broadcast(move |_| _ = posted.fetch_add(1, Ordering::Relaxed));
        begun.fetch_add(1, Ordering::Relaxed);
    }));
    drive(&mut tasks, &ran, 1);
    drop(tasks);
    assert_eq!(ran.load(Ordering::Relaxed), 2);
}
