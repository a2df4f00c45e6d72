//! The report of a shutdown: whether it was clean, and which tasks, closures and calls did not end,
//! with the places where they began.

mod util;

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use util::{Count, Gate, OnDrop, OpenOnDrop, PATIENCE, runtime, wait_for, within_patience};
use windlass::net::UdpSocket;
use windlass::task::JoinSet;
use windlass::timer::sleep;
use windlass::{Builder, Straggler, par, task};

const SHORT: Duration = Duration::from_millis(20);

#[test]
fn a_clean_shutdown_says_so() {
    let runtime = runtime(2);
    let (started, dropped) = (Count::new(), Count::new());
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let (started, guard) = (started.clone(), dropped.on_drop());
            runtime.spawn(async move {
                let _guard = guard;
                started.add();
                pending::<()>().await;
            })
        })
        .collect();
    started.wait_for(50);
    let report = runtime.shutdown(PATIENCE);
    assert!(report.is_clean() && report.stragglers().is_empty());
    assert!(report.elapsed() < PATIENCE);
    assert!(report.to_string().starts_with("everything ended within"));
    assert_eq!(dropped.get(), 100);
    for task in tasks {
        assert!(wait_for(task).unwrap_err().is_cancelled());
    }
}

#[test]
fn stragglers_are_named_at_the_deadline() {
    let runtime = runtime(1);
    let (release, busy) = (OpenOnDrop(Gate::new()), Count::new());
    let block = || {
        let (release, busy) = (release.0.clone(), busy.clone());
        move || {
            busy.add();
            release.wait();
        }
    };
    let _entered = runtime.enter();
    let in_task = block();
    let task = task::Builder::new().name("stuck task").spawn(async move { in_task() });
    let closure = task::Builder::new().name("stuck closure").spawn_blocking(block());
    busy.wait_for(2);
    drop(_entered);
    let start = Instant::now();
    let report = runtime.shutdown(SHORT);
    assert!(start.elapsed() >= SHORT);
    assert!(!report.is_clean());
    let text = report.to_string();
    assert!(text.contains("task \"stuck task\" spawned at tests/shutdown_report.rs"), "{text}");
    assert!(text.contains("blocking closure \"stuck closure\" spawned at tests/"), "{text}");
    assert_eq!(report.stragglers().len(), 2);
    for straggler in report.stragglers() {
        let name = if straggler.is_blocking() { "stuck closure" } else { "stuck task" };
        assert_eq!(straggler.name(), Some(name));
    }
    // They go on by themselves, and end.
    release.0.open();
    wait_for(task).unwrap();
    wait_for(closure).unwrap();
}

/// What it had captured was dropped by the thread that shut down, before that looked at the deadline.
#[test]
fn a_queued_closure_whose_drop_blocks_is_a_straggler() {
    let runtime = Builder::new().workers(1).max_blocking(1).build().unwrap();
    let (release, busy) = (OpenOnDrop(Gate::new()), Count::new());
    let closed = release.0.clone();
    let dropped = OnDrop(move || closed.wait());
    let (closed, inner) = (release.0.clone(), busy.clone());
    drop(runtime.spawn_blocking(move || {
        inner.add();
        closed.wait();
    }));
    busy.wait_for(1);
    let _entered = runtime.enter();
    let queued = task::Builder::new().name("queued").spawn_blocking(move || drop(dropped));
    drop(_entered);
    let report = within_patience("the shutdown", move || runtime.shutdown(SHORT));
    let mut names: Vec<_> = report.stragglers().iter().map(|one| one.name()).collect();
    names.sort_unstable();
    assert_eq!((report.is_clean(), names), (false, vec![None, Some("queued")]));
    release.0.open();
    assert!(wait_for(queued).unwrap_err().is_cancelled());
}

/// It was called by the thread that shut down, before that looked at the deadline.
#[test]
fn a_waker_that_blocks_does_not_hold_up_a_shutdown() {
    struct Call<F>(F);
    impl<F: Fn() + Send + Sync> Wake for Call<F> {
        fn wake(self: Arc<Self>) {
            self.0();
        }
    }
    type Waiting = Pin<Box<dyn Future<Output = ()>>>;

    for is_socket in [false, true] {
        let runtime = runtime(1);
        let (release, begun, ended) = (OpenOnDrop(Gate::new()), Count::new(), Count::new());
        let (closed, begins, ends) = (release.0.clone(), begun.clone(), ended.clone());
        let waker = Waker::from(Arc::new(Call(move || {
            begins.add();
            closed.wait();
            ends.add();
        })));
        let entered = runtime.enter();
        let socket = runtime.block_on(UdpSocket::bind("127.0.0.1:0")).unwrap();
        let receives = async move { _ = socket.recv(&mut [0]).await };
        let mut waits: Waiting =
            if is_socket { Box::pin(receives) } else { Box::pin(sleep(PATIENCE * 100)) };
        assert!(waits.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(entered);
        let report = within_patience("the shutdown", move || runtime.shutdown(SHORT));
        assert!(!report.is_clean() && report.stragglers().is_empty());
        begun.wait_for(1);
        assert_eq!(ended.get(), 0);
        release.0.open();
        ended.wait_for(1);
    }
}

/// Every way to spawn, all on one line each, so that the line can be told.
#[test]
fn the_report_tells_where_each_straggler_was_spawned() {
    let runtime = Builder::new().workers(16).build().unwrap();
    let handle = runtime.handle().clone();
    let (release, busy) = (OpenOnDrop(Gate::new()), Count::new());
    let block = || {
        let (release, busy) = (release.0.clone(), busy.clone());
        move || {
            busy.add();
            release.wait();
        }
    };
    let future = || {
        let block = block();
        async move { block() }
    };
    let mut lines = Vec::new();
    macro_rules! here {
        ($spawn:expr) => {{
            lines.push(line!());
            $spawn
        }};
    }
    let mut set = JoinSet::new();
    let entered = runtime.enter();
    drop(here!(windlass::spawn(future())));
    drop(here!(runtime.spawn(future())));
    drop(here!(handle.spawn(future())));
    drop(here!(task::Builder::new().spawn(future())));
    drop(here!(task::Builder::new().spawn_on(future(), &handle)));
    here!(set.spawn(future()));
    here!(set.spawn_on(future(), &handle));
    drop(here!(windlass::spawn_blocking(block())));
    drop(here!(runtime.spawn_blocking(block())));
    drop(here!(handle.spawn_blocking(block())));
    drop(here!(task::Builder::new().spawn_blocking(block())));
    here!(set.spawn_blocking(block()));
    let collected = here!(JoinSet::from_iter([future()]));
    drop(entered);
    busy.wait_for(13);
    let report = runtime.shutdown(SHORT);
    for straggler in report.stragglers() {
        let location = straggler.location();
        assert!(location.file().ends_with("shutdown_report.rs"), "{location}");
        assert!(straggler.name().is_none());
    }
    let mut told: Vec<u32> = report.stragglers().iter().map(|one| one.location().line()).collect();
    told.sort_unstable();
    assert_eq!(told, lines);
    release.0.open();
    drop((set, collected));
}

/// Fork-join of threads that are no workers moves to a task of the runtime if they are too many to
/// take part, and is named by the call.
#[test]
fn the_report_tells_where_each_outside_thread_has_called_fork_join() {
    let runtime = Builder::new().workers(16).build().unwrap();
    let (release, busy) = (Gate::new(), Count::new());
    let block = |first: bool| {
        if first {
            busy.add();
            release.wait();
        }
    };
    let lines = Mutex::new(Vec::new());
    macro_rules! here {
        ($call:expr) => {{
            lines.lock().unwrap().push(line!());
            let _ = $call;
        }};
    }
    // A slice is divided once before anything moves to a worker.
    let once = || {
        let first = AtomicBool::new(true);
        move || {
            let on_worker = thread::current().name().is_some();
            block(on_worker && first.swap(false, Ordering::Relaxed));
        }
    };
    let descending = || (0..10_000).rev().collect::<Vec<i32>>();
    let calls: [&(dyn Fn() + Sync); 9] = [
        &|| here!(windlass::join(|| block(true), || ())),
        &|| here!(windlass::scope(|scope| scope.spawn(|_| block(true)))),
        &|| here!(par::for_each(0..8, |i| block(i == 0))),
        &|| here!(par::for_each_mut(&mut [1, 0, 0], |i| block(*i == 1))),
        &|| here!(par::chunks_mut(&mut [0; 8], 1, |i, _| block(i == 0))),
        &|| here!(par::map_reduce(0..8, |i| block(i == 0), |(), ()| ())),
        &|| here!(par::map_collect(0..8, |i| block(i == 0))),
        &|| {
            let (once, mut items) = (once(), descending());
            here!(par::sort_unstable_by(&mut items, |a, b| (once(), a.cmp(b)).1));
        },
        &|| {
            let (once, mut items) = (once(), descending());
            here!(par::sort_unstable_by_key(&mut items, |item| (*item, once())));
        },
    ];
    let guests = Count::new();
    thread::scope(|threads| {
        let _open = OpenOnDrop(release.clone());
        // As many as there are places.
        for _ in 0..16 {
            let handle = runtime.handle().clone();
            let (guests, release) = (&guests, &release);
            threads.spawn(move || {
                let _entered = handle.enter();
                windlass::join(|| (guests.add(), release.wait()), || ());
            });
        }
        guests.wait_for(16);
        for call in calls {
            let handle = runtime.handle().clone();
            threads.spawn(move || {
                let _entered = handle.enter();
                call();
            });
        }
        busy.wait_for(calls.len());
        let report = runtime.shutdown(SHORT);
        release.open();
        let files = report.stragglers().iter().map(|one| one.location().file());
        assert!(files.clone().all(|file| file.ends_with("shutdown_report.rs")), "{report}");
        let mut told: Vec<u32> =
            report.stragglers().iter().map(|one| one.location().line()).collect();
        told.sort_unstable();
        let mut lines = lines.lock().unwrap().clone();
        lines.sort_unstable();
        assert_eq!(told, lines);
    });
}

/// The deadline is over before anything could be waited for: whatever the report says must hold.
#[test]
fn a_report_after_no_time_at_all_does_not_claim_what_has_not_happened() {
    for _ in 0..50 {
        let runtime = runtime(2);
        let dropped = Count::new();
        for _ in 0..1_000 {
            let guard = dropped.on_drop();
            drop(runtime.spawn(async move {
                let _guard = guard;
                pending::<()>().await;
            }));
        }
        let report = runtime.shutdown(Duration::ZERO);
        if report.is_clean() {
            assert_eq!(dropped.get(), 1_000, "clean, with tasks not yet dropped");
        }
        dropped.wait_for(1_000);
    }
}

#[test]
fn a_straggler_has_the_traits_of_a_value() {
    fn is_value<T: Clone + std::fmt::Debug + std::fmt::Display + Send + Sync>() {}
    is_value::<Straggler>();
}
