//! Memory that runs out while tasks are spawned ends the process as the standard library does, with its message,
//! whichever allocation it is.
#![cfg(unix)]

mod util;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use util::{is_child, run_in_child, runtime, wait_for};

/// Fails at one allocation, while it is armed.
struct Failing;

/// Allocations that are left before the one that fails. Zero if none is to fail.
static LEFT: AtomicUsize = AtomicUsize::new(0);
/// Allocations of all threads count, and not only those of the one that is marked.
static EVERYWHERE: AtomicBool = AtomicBool::new(false);

thread_local! {
    static MARKED: Cell<bool> = const { Cell::new(false) };
}

fn fails() -> bool {
    let counts = || EVERYWHERE.load(SeqCst) || MARKED.try_with(Cell::get).unwrap_or(false);
    let count_down = |left: usize| left.checked_sub(1);
    LEFT.load(SeqCst) > 0 && counts() && LEFT.fetch_update(SeqCst, SeqCst, count_down) == Ok(1)
}

// SAFETY: what does not fail is passed on to the system's allocator as it comes; counting allocates nothing.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if fails() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// The signal by which a process aborts.
const ABORTED: i32 = 6;
const NUMBER: &str = "WINDLASS_TEST_ALLOCATION";
/// More tasks than one block of the injector holds.
const TASKS: usize = 80;

/// Runs `spawns` in this process, with the allocation that the environment says failing.
fn be_child(everywhere: bool, spawns: impl FnOnce()) {
    let number = std::env::var(NUMBER).unwrap().parse().unwrap();
    EVERYWHERE.store(everywhere, SeqCst);
    MARKED.set(true);
    LEFT.store(number, SeqCst);
    spawns();
    let left = LEFT.swap(0, SeqCst);
    // Zero after a failure that the program has survived.
    println!("allocations left: {left}");
}

/// Runs a test in a process of its own, where the allocation with this number fails. Returns false if the program makes
/// fewer of them.
fn ends_in_order(test: &str, number: usize) -> bool {
    // A backtrace takes longer than all the rest.
    let output = run_in_child(test, &[(NUMBER, &number.to_string()), ("RUST_BACKTRACE", "0")]);
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        // A thread that could not be started is an error that the program has heard of.
        return out.contains("allocations left: 0\n");
    }
    let aborted = output.status.signal() == Some(ABORTED);
    let told = err
        .lines()
        .any(|line| line.starts_with("memory allocation of ") && line.ends_with(" bytes failed"));
    assert!(aborted && told, "allocation {number}: {}\n{out}{err}", output.status);
    true
}

#[test]
fn each_allocation_of_spawns_from_outside_may_fail() {
    let test = "each_allocation_of_spawns_from_outside_may_fail";
    if is_child() {
        let runtime = runtime(1);
        let mut tasks = Vec::with_capacity(TASKS);
        be_child(false, || {
            tasks.extend((0..TASKS).map(|number| runtime.spawn(async move { number })));
        });
        let sum: usize = tasks.into_iter().map(|task| wait_for(task).unwrap()).sum();
        assert_eq!(sum, TASKS * (TASKS - 1) / 2);
        return;
    }
    let failed = (1..10 * TASKS).take_while(|&number| ends_in_order(test, number)).count();
    assert!((TASKS..10 * TASKS - 1).contains(&failed), "{failed} allocations");
}

#[test]
fn allocations_of_spawns_on_workers_may_fail() {
    let test = "allocations_of_spawns_on_workers_may_fail";
    if is_child() {
        let runtime = runtime(2);
        be_child(true, || {
            let parents: Vec<_> = (0..4)
                .map(|_| {
                    runtime.spawn(async {
                        let children: Vec<_> =
                            (0..10).map(|number| windlass::spawn(async move { number })).collect();
                        let blocking = windlass::spawn_blocking(|| 1).await.unwrap();
                        let mut sum = blocking;
                        for child in children {
                            windlass::timer::sleep(std::time::Duration::from_micros(10)).await;
                            sum += child.await.unwrap();
                        }
                        sum
                    })
                })
                .collect();
            parents.into_iter().for_each(|parent| assert_eq!(wait_for(parent).unwrap(), 46));
        });
        return;
    }
    // How many there are depends on how the threads meet.
    let failed = (1..=60).filter(|&number| ends_in_order(test, number)).count();
    assert!(failed >= 40, "{failed} allocations");
}
