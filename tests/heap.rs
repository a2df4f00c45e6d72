//! Nothing leaks: threads, file descriptors and heap stay flat over a thousand runtimes, and a
//! task costs one small allocation.

mod util;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::pending;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

use util::{AsyncGate, Count, PATIENCE, runtime, throw, wait_for, wait_until};

/// Counts what is allocated: bytes of the whole process, calls of the current thread.
struct Counting;

static BYTES: AtomicIsize = AtomicIsize::new(0);

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system's allocator as it comes; counting allocates
// nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size() as isize, Relaxed);
        let _ = CALLS.try_with(|calls| calls.set(calls.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn bytes() -> isize {
    BYTES.load(Relaxed)
}

#[cfg(target_os = "linux")]
fn entries(path: &str) -> usize {
    std::fs::read_dir(path).unwrap().count()
}

#[cfg(not(target_os = "linux"))]
fn entries(_path: &str) -> usize {
    0
}

/// A short life with a bit of everything in it.
fn life(round: usize) {
    let runtime = runtime(2);
    let gate = AsyncGate::new();
    let done = Count::new();
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let (gate, done) = (gate.clone(), done.clone());
            runtime.spawn(async move {
                let child = windlass::spawn(async move {
                    if number == 3 {
                        throw("one of them panics");
                    }
                });
                let _ = child.await;
                done.add();
                if number % 2 == 0 {
                    gate.wait().await;
                }
                vec![number; 10]
            })
        })
        .collect();
    drop(runtime.spawn(pending::<()>()));
    if round % 8 == 0 {
        let closure = runtime.spawn_blocking(|| vec![1; 100]);
        assert_eq!(wait_for(closure).unwrap().len(), 100);
    }
    done.wait_for(8);
    if round % 2 == 0 {
        gate.open();
        for task in tasks {
            assert_eq!(wait_for(task).unwrap().len(), 10);
        }
    } else {
        tasks[1].abort();
        drop(tasks);
    }
    match round % 3 {
        0 => drop(runtime),
        1 => assert!(runtime.shutdown(PATIENCE).is_clean()),
        _ => {
            let cell = std::sync::Arc::new(std::sync::Mutex::new(None));
            let inner = cell.clone();
            let start = AsyncGate::new();
            let started = start.clone();
            let task = runtime.spawn(async move {
                started.wait().await;
                drop(inner.lock().unwrap().take());
            });
            *cell.lock().unwrap() = Some(runtime);
            start.open();
            wait_for(task).unwrap();
        }
    }
}

/// One test, for it looks at the whole process.
#[test]
fn nothing_leaks_and_a_task_is_one_small_allocation() {
    a_thousand_runtimes_leave_nothing_behind();
    spawning_allocates_once();
    an_idle_task_is_small();
}

fn a_thousand_runtimes_leave_nothing_behind() {
    let (threads, files) = (entries("/proc/self/task"), entries("/proc/self/fd"));
    let settled = || wait_until("the threads end", || entries("/proc/self/task") <= threads);
    (0..100).for_each(life);
    settled();
    let before = bytes();
    (0..1_000).for_each(life);
    settled();
    assert_eq!(entries("/proc/self/fd"), files);
    // What threads defer to free is kept for a while, but not for ever: it does not grow with the
    // number of runtimes.
    wait_until("the heap is as small as it was", || {
        let grown = bytes() - before;
        grown < 64 * 1024
    });
}

fn spawning_allocates_once() {
    let runtime = runtime(1);
    let spawn = || {
        let before = CALLS.with(Cell::get);
        let task = runtime.spawn(async {});
        let calls = CALLS.with(Cell::get) - before;
        wait_for(task).unwrap();
        calls
    };
    // A queue that grows allocates now and then.
    let calls: Vec<usize> = (0..100).map(|_| spawn()).collect();
    assert!(calls.iter().filter(|calls| **calls == 1).count() > 90, "{calls:?}");
}

fn an_idle_task_is_small() {
    const TASKS: usize = 20_000;
    let runtime = runtime(1);
    let polled = Count::new();
    let before = bytes();
    for _ in 0..TASKS {
        let polled = polled.clone();
        drop(runtime.spawn(std::future::poll_fn(move |_| {
            polled.add();
            std::task::Poll::<()>::Pending
        })));
    }
    polled.wait_for(TASKS);
    let each = (bytes() - before) as usize / TASKS;
    // Queues included, which have grown for the burst.
    assert!(each <= 179, "{each} bytes for an idle task");
}
