//! The list of tasks has what no worker runs: closures of the blocking pool, tasks of one thread,
//! futures of `block_on`.

mod util;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use util::{Gate, OpenOnDrop, PATIENCE, runtime, wait_for, wait_until, within_patience};
use windlass::observe::{TaskInfo, TaskKind, TaskState, WaitsFor};
use windlass::sync::{AutoResetEvent, CancellationToken, ManualResetEvent};
use windlass::task::{self, Id};
use windlass::{Builder, Handle, Runtime, timer};

fn find(handle: &Handle, id: Id) -> Option<TaskInfo> {
    handle.tasks().into_iter().find(|info| info.id == id)
}

/// Waits until a task is as wanted, and returns what is known of it.
#[track_caller]
fn when(runtime: &Runtime, id: Id, wanted: impl Fn(&TaskInfo) -> bool) -> TaskInfo {
    let mut found = None;
    wait_until("the task is as wanted", || {
        found = find(runtime.handle(), id).filter(&wanted);
        found.is_some()
    });
    found.unwrap()
}

fn is_idle(info: &TaskInfo) -> bool {
    info.state == TaskState::Idle
}

fn is_outside(info: &TaskInfo) -> bool {
    matches!(info.state, TaskState::RunningOutside { .. })
}

fn of_kind(handle: &Handle, kind: TaskKind) -> Vec<TaskInfo> {
    let mut tasks = handle.tasks();
    tasks.retain(|info| info.kind == kind);
    tasks
}

#[test]
fn closures_are_listed_while_they_run_and_while_they_wait_for_a_thread() {
    let start = Instant::now();
    let runtime = Builder::new().workers(1).max_blocking(1).build().unwrap();
    let gate = OpenOnDrop(Gate::new());
    let closures: Vec<_> = (0..200)
        .map(|_| {
            let gate = gate.0.clone();
            runtime.spawn_blocking(move || gate.wait())
        })
        .collect();
    let first = when(&runtime, closures[0].id(), is_outside);
    assert_eq!((first.kind, first.polls), (TaskKind::Blocking, 1));
    assert_eq!((first.waits_for, first.name), (WaitsFor::Nothing, None));
    assert_eq!(first.location.file(), file!());
    let TaskState::RunningOutside { since } = first.state else { panic!("{:?}", first.state) };
    assert!(since + Duration::from_millis(5) > start && since <= Instant::now());
    let last = find(runtime.handle(), closures[199].id()).unwrap();
    assert_eq!((last.state, last.polls), (TaskState::Queued, 0));
    let listed = runtime.handle().tasks();
    assert_eq!(listed.len(), 200, "more than are visited under one hold of the lock");
    let mut ids: Vec<_> = listed.iter().map(|info| info.id.to_string()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 200, "each is there once");
    gate.0.open();
    closures.into_iter().for_each(|closure| wait_for(closure).unwrap());
    wait_until("none is left", || runtime.handle().tasks().is_empty());
}

#[test]
fn a_closure_in_block_on_says_what_it_waits_for_and_is_a_closure_all_the_time() {
    let runtime = runtime(2);
    let (event, handle) = (Arc::new(AutoResetEvent::new(false)), runtime.handle().clone());
    let gate = OpenOnDrop(Gate::new());
    let (waits, closed) = (event.clone(), gate.0.clone());
    let deadline = timer::now() + Duration::from_secs(3600);
    let (end, ended) = windlass::channel::bounded(1);
    let closure = runtime.spawn_blocking(move || {
        handle.block_on(waits.wait());
        closed.wait();
        // A channel does not say that it is waited for.
        let end = async { ended.recv().await.unwrap() };
        handle.block_on(futures_lite::future::or(timer::sleep_until(deadline), end));
    });
    let id = closure.id();
    let joiner = runtime.spawn(async move { closure.await.unwrap() });
    let info = when(&runtime, id, |info| info.waits_for == WaitsFor::Event);
    assert!(is_outside(&info), "{info:?}");
    let began = Instant::now();
    assert!(of_kind(runtime.handle(), TaskKind::BlockOn).is_empty(), "the closure is listed");
    wait_until("time passes", || began.elapsed() > Duration::from_millis(20));
    let joins = when(&runtime, joiner.id(), is_idle);
    assert_eq!(joins.waits_for, WaitsFor::Blocking(id));
    event.set();
    when(&runtime, id, |info| is_outside(info) && info.waits_for == WaitsFor::Nothing);
    gate.0.open();
    let info = when(&runtime, id, |info| matches!(info.waits_for, WaitsFor::Timer { .. }));
    let WaitsFor::Timer { deadline: noted } = info.waits_for else { panic!("{info:?}") };
    let TaskState::RunningOutside { since } = info.state else { panic!("{info:?}") };
    assert!(since <= began + Duration::from_millis(5), "it is not what it waits for that counts");
    let off = noted.max(deadline) - noted.min(deadline);
    assert!(off < Duration::from_millis(1), "off by {off:?}");
    end.try_send(()).unwrap();
    wait_for(joiner).unwrap();
}

#[test]
fn tasks_of_one_thread_are_listed_with_what_they_wait_for() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    let gate = OpenOnDrop(Gate::new());
    let pinned = handle.spawn_pinned(|| async {
        windlass::yield_now().await;
        let child = task::spawn_local(pending::<()>());
        timer::sleep(Duration::from_secs(3600)).await;
        child.await.unwrap();
    });
    let info = when(&runtime, pinned.id(), |info| is_idle(info) && info.polls == 2);
    assert_eq!((info.kind, info.location.file()), (TaskKind::Local, file!()));
    assert!(matches!(info.waits_for, WaitsFor::Timer { .. }), "{info:?}");
    wait_until("its child waits, too", || {
        of_kind(&handle, TaskKind::Local).iter().filter(|info| is_idle(info)).count() == 2
    });
    let sites = runtime.metrics().sites;
    let site = sites.iter().find(|site| site.location == info.location).expect("its site");
    assert_eq!((site.spawned, site.alive, site.polls), (1, 1, 2), "{site:?}");

    // One that is stuck holds up the others of its thread, and the list says which it is.
    let closed = gate.0.clone();
    let busy = Instant::now();
    let stuck = handle.spawn_pinned(move || async move { closed.wait() });
    let info = when(&runtime, stuck.id(), is_outside);
    let TaskState::RunningOutside { since } = info.state else { panic!("{info:?}") };
    assert!(since + Duration::from_millis(5) > busy && since <= Instant::now(), "{info:?}");
    let behind = handle.spawn_pinned(|| async {});
    assert_eq!(find(&handle, behind.id()).map(|info| info.state), Some(TaskState::Queued));
    gate.0.open();
    wait_for(stuck).unwrap();
    wait_for(behind).unwrap();
    pinned.abort();
    assert!(wait_for(pinned).unwrap_err().is_cancelled());
    wait_until("the child is left", || of_kind(&handle, TaskKind::Local).len() == 1);
}

#[test]
fn the_time_in_polls_of_a_task_of_one_thread_is_known() {
    let runtime = runtime(1);
    let gate = OpenOnDrop(Gate::new());
    let closed = gate.0.clone();
    let task = runtime.handle().spawn_pinned(move || async move {
        closed.wait();
        pending::<()>().await;
    });
    let busy = Duration::from_millis(20);
    when(&runtime, task.id(), |info| match info.state {
        TaskState::RunningOutside { since } => since.elapsed() > busy,
        _ => false,
    });
    gate.0.open();
    let info = when(&runtime, task.id(), is_idle);
    assert!(info.busy >= busy && info.busy <= info.age + busy, "{info:?}");
}

#[test]
fn the_future_of_block_on_is_listed_with_its_thread_and_its_local_tasks() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    let event = Arc::new(ManualResetEvent::new(false));
    let gate = OpenOnDrop(Gate::new());
    let (waits, closed, inner) = (event.clone(), gate.0.clone(), handle.clone());
    let line = line!() + 2;
    let body = move || {
        inner.block_on(async move {
            let child = task::spawn_local(timer::sleep(Duration::from_secs(3600)));
            closed.wait();
            waits.wait().await;
            child.abort();
            drop(child.await);
        });
    };
    let thread = std::thread::Builder::new().name("the caller".to_owned()).spawn(body).unwrap();
    let call = || of_kind(&handle, TaskKind::BlockOn);
    wait_until("it is in its first poll", || call().first().is_some_and(is_outside));
    let info = &call()[0];
    assert_eq!((info.name.as_deref(), info.location.line()), (Some("the caller"), line));
    assert_eq!((info.polls, info.waits_for), (1, WaitsFor::Nothing));
    gate.0.open();
    wait_until("it waits", || call().first().is_some_and(is_idle));
    let info = &call()[0];
    assert_eq!(info.waits_for, WaitsFor::Event);
    wait_until("it has waited for a while", || {
        call()[0].waiting_for >= Duration::from_millis(5) && call()[0].age >= call()[0].waiting_for
    });
    wait_until("the task beside it sleeps", || {
        let tasks = of_kind(&handle, TaskKind::Local);
        tasks.len() == 1 && matches!(tasks[0].waits_for, WaitsFor::Timer { .. })
    });
    // Another runtime knows nothing of it.
    assert!(util::runtime(1).handle().tasks().is_empty());
    event.set();
    thread.join().unwrap();
    assert!(handle.tasks().is_empty());
}

/// What the outer call waits for was lost once the inner one had returned.
#[test]
fn a_block_on_within_a_block_on_is_listed_beside_it() {
    let (outer, inner) = (runtime(1), runtime(1));
    let event = Arc::new(AutoResetEvent::new(false));
    let (waits, first, second) = (event.clone(), outer.handle().clone(), inner.handle().clone());
    let thread = std::thread::spawn(move || {
        first.block_on(async {
            second.block_on(waits.wait());
            waits.wait().await;
        });
    });
    let calls = |runtime: &Runtime| of_kind(runtime.handle(), TaskKind::BlockOn);
    wait_until("the inner one waits", || calls(&inner).first().is_some_and(is_idle));
    assert_eq!(calls(&inner)[0].waits_for, WaitsFor::Event);
    assert!(is_outside(&calls(&outer)[0]), "{:?}", calls(&outer));
    event.set();
    wait_until("the outer one waits", || calls(&outer).first().is_some_and(is_idle));
    assert_eq!(calls(&outer)[0].waits_for, WaitsFor::Event);
    assert!(calls(&inner).is_empty());
    event.set();
    thread.join().unwrap();
}

#[test]
fn without_observation_they_are_listed_without_times() {
    let runtime = Builder::new().workers(1).observe(false).build().unwrap();
    let handle = runtime.handle().clone();
    let gate = OpenOnDrop(Gate::new());
    let (event, closed) = (Arc::new(AutoResetEvent::new(false)), gate.0.clone());
    let closure = runtime.spawn_blocking(move || closed.wait());
    let pinned = handle.spawn_pinned(pending::<()>);
    let waits = event.clone();
    let thread = std::thread::spawn(move || handle.block_on(waits.wait()));
    wait_until("all are listed", || runtime.handle().tasks().len() == 3);
    when(&runtime, closure.id(), is_outside);
    let info = when(&runtime, pinned.id(), is_idle);
    assert_eq!((info.polls, info.waits_for), (0, WaitsFor::Unknown));
    for info in runtime.handle().tasks() {
        assert_eq!((info.age, info.waiting_for), (Duration::ZERO, Duration::ZERO), "{info:?}");
    }
    event.set();
    gate.0.open();
    wait_for(closure).unwrap();
    thread.join().unwrap();
}

/// Threads, closures and calls come and go while they are listed, and none of those that stay is missed.
#[test]
fn what_runs_outside_may_come_and_go_while_it_is_listed() {
    let runtime = Builder::new().workers(1).max_blocking(4).build().unwrap();
    let gate = OpenOnDrop(Gate::new());
    let closed = gate.0.clone();
    let stays = runtime.spawn_blocking(move || closed.wait());
    let pinned = runtime.handle().spawn_pinned(pending::<()>);
    when(&runtime, stays.id(), is_outside);
    let rounds = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let (handle, rounds, gate) = (runtime.handle().clone(), rounds.clone(), gate.0.clone());
            std::thread::spawn(move || {
                while !gate.is_open() {
                    let closures: Vec<_> = (0..10).map(|_| handle.spawn_blocking(|| ())).collect();
                    handle.block_on(async {
                        let local = task::spawn_local(windlass::yield_now());
                        for closure in closures {
                            closure.await.unwrap();
                        }
                        local.await.unwrap();
                    });
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let mut lists = 0;
    wait_until("many have come and gone", || {
        let tasks = runtime.handle().tasks();
        let listed: std::collections::HashSet<_> = tasks.iter().map(|info| info.id).collect();
        assert_eq!(listed.len(), tasks.len(), "nothing is there twice");
        assert!(listed.contains(&stays.id()) && listed.contains(&pinned.id()));
        lists += 1;
        lists >= 50 && rounds.load(Ordering::Relaxed) >= 500
    });
    gate.0.open();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    wait_for(stays).unwrap();
}

/// A listing is taken from inside of what it lists: a closure, a task of one thread, a `block_on`.
#[test]
fn what_runs_outside_can_list_itself() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    let listed = |kind| {
        let handle = handle.clone();
        move || of_kind(&handle, kind).len()
    };
    let closure = listed(TaskKind::Blocking);
    assert_eq!(wait_for(runtime.spawn_blocking(closure)).unwrap(), 1);
    let local = listed(TaskKind::Local);
    assert_eq!(wait_for(handle.spawn_pinned(move || async move { local() })).unwrap(), 1);
    let (call, calls) = (listed(TaskKind::BlockOn), handle.clone());
    let found = within_patience("block_on", move || calls.block_on(async move { call() }));
    assert_eq!(found, 1);
}

#[test]
fn a_cancellation_is_named_and_a_call_that_ends_by_a_panic_is_gone() {
    let runtime = runtime(1);
    let token = CancellationToken::new();
    let (waits, handle) = (token.clone(), runtime.handle().clone());
    let thread = std::thread::spawn(move || {
        handle.block_on(async {
            waits.cancelled().await;
            util::throw("in block_on");
        });
    });
    let calls = || of_kind(runtime.handle(), TaskKind::BlockOn);
    wait_until("it waits", || calls().first().is_some_and(is_idle));
    assert_eq!(calls()[0].waits_for, WaitsFor::Cancellation);
    token.cancel();
    let start = Instant::now();
    assert!(thread.join().is_err() && start.elapsed() < PATIENCE);
    assert!(calls().is_empty());
}
