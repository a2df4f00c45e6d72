//! What the list of tasks says in special cases: of computations, behind stuck workers, without
//! observation, and while many are listed.

mod util;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use util::{Count, Gate, runtime, wait_for, wait_until};
use windlass::observe::{SiteMetrics, TaskInfo, TaskState, WaitsFor};
use windlass::task::{self, Id, JoinHandle};
use windlass::{Builder, Handle, Runtime, timer};

fn find(handle: &Handle, id: Id) -> Option<TaskInfo> {
    handle.tasks().into_iter().find(|info| info.id == id)
}

/// Waits until a task is idle, and returns what is known of it.
#[track_caller]
fn when_idle<T>(runtime: &Runtime, task: &JoinHandle<T>) -> TaskInfo {
    let mut found = None;
    wait_until("the task is idle", || {
        found = find(runtime.handle(), task.id()).filter(|info| info.state == TaskState::Idle);
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn a_running_task_says_whether_it_computes_or_blocks_in_place() {
    let runtime = runtime(2);
    let gate = util::OpenOnDrop(Gate::new());
    let [computes, blocks, polls] = std::array::from_fn(|_| gate.0.clone());
    let compute = {
        let _entered = runtime.handle().enter();
        windlass::compute(move || computes.wait())
    };
    let block = runtime.spawn(async move { task::block_in_place(|| blocks.wait()) });
    let poll = runtime.spawn(async move { polls.wait() });
    let is_seen = |task: &JoinHandle<()>, is_computing: bool, is_blocked: bool| {
        wait_until("it is seen", || {
            find(runtime.handle(), task.id()).is_some_and(|info| {
                matches!(info.state, TaskState::Running { .. })
                    && (info.is_computing, info.is_blocked) == (is_computing, is_blocked)
            })
        });
    };
    is_seen(&compute, true, false);
    is_seen(&block, false, true);
    is_seen(&poll, false, false);
    gate.0.open();
    for task in [compute, block, poll] {
        wait_for(task).unwrap();
    }
}

/// It was shown as an unknown waker.
#[test]
fn a_task_that_waits_for_a_tracker_says_so() {
    let runtime = runtime(1);
    let tracker = task::TaskTracker::new();
    let waits = tracker.clone();
    let waiter = runtime.spawn(async move { waits.wait().await });
    assert_eq!(when_idle(&runtime, &waiter).waits_for, WaitsFor::Latch);
    tracker.close();
    wait_for(waiter).unwrap();
}

/// They were in no list, although they may wait for long.
#[test]
fn tasks_that_wait_for_their_first_poll_behind_a_stuck_worker_are_listed() {
    const TASKS: usize = 100;
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let gate = util::OpenOnDrop(Gate::new());
    let closed = gate.0.clone();
    let (send, spawned) = std::sync::mpsc::channel();
    let stuck = runtime.spawn(async move {
        for number in 0..TASKS {
            send.send(windlass::spawn(async move { number })).unwrap();
        }
        drop(send);
        closed.wait();
    });
    let tasks: Vec<_> = spawned.iter().collect();
    let infos = || -> Vec<_> {
        let mut infos = runtime.handle().tasks();
        infos.retain(|info| tasks.iter().any(|task| task.id() == info.id));
        infos
    };
    wait_until("all are listed", || infos().len() == TASKS);
    let infos = infos();
    assert_eq!(infos.len(), TASKS, "they stay in the list");
    for info in infos {
        assert_eq!((info.state, info.polls), (TaskState::Queued, 0));
        assert!(info.location.file().ends_with("observe_listing.rs") && info.age < util::PATIENCE);
    }
    gate.0.open();
    wait_for(stuck).unwrap();
    for (number, task) in tasks.into_iter().enumerate() {
        assert_eq!(wait_for(task).unwrap(), number);
    }
    let is_it = |site: &&SiteMetrics| site.spawned == TASKS as u64;
    wait_until("all are counted", || {
        let sites = runtime.metrics().sites;
        let site = sites.iter().find(is_it).expect("their site");
        (site.alive, site.polls) == (0, TASKS as u64)
    });
    wait_until("none is listed", || runtime.handle().tasks().is_empty());
}

/// The clock behind it stood still while a worker computed.
#[test]
fn a_task_that_is_polled_in_place_has_not_run_since_the_computation_began() {
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let gate = util::OpenOnDrop(Gate::new());
    let (began, closed) = (Gate::new(), gate.0.clone());
    let (tell, open) = (began.clone(), gate.0.clone());
    let joins = Count::new();
    let joined = joins.clone();
    let compute = {
        let _entered = runtime.handle().enter();
        windlass::compute(move || {
            tell.open();
            while !open.is_open() {
                windlass::join(|| (), || ());
                joined.add();
            }
        })
    };
    began.wait();
    let computes_since = Instant::now();
    // The split point at which the task is found has read the clock before it looked.
    let before = joins.get();
    wait_until("it has computed for a while", || {
        joins.get() > before + 1 && computes_since.elapsed() >= Duration::from_millis(20)
    });
    let inner = runtime.spawn(async move { closed.wait() });
    let mut since = None;
    wait_until("it is polled in place", || {
        since = find(runtime.handle(), inner.id()).and_then(|info| match info.state {
            TaskState::Running { since, .. } => Some((since, info.is_computing)),
            _ => None,
        });
        since.is_some()
    });
    let outer = find(runtime.handle(), compute.id()).unwrap();
    gate.0.open();
    let (since, is_computing) = since.unwrap();
    assert!(!is_computing && since > computes_since, "{since:?}");
    let TaskState::Running { since, .. } = outer.state else { panic!("{outer:?}") };
    assert!(outer.is_computing && since <= computes_since, "{outer:?}");
    wait_for(inner).unwrap();
    wait_for(compute).unwrap();
}

/// All times were counted from the start of the process.
#[test]
fn without_observation_no_times_are_made_up() {
    let start = Instant::now();
    let runtime = Builder::new().workers(1).observe(false).build().unwrap();
    let gate = util::OpenOnDrop(Gate::new());
    let closed = gate.0.clone();
    let idle = runtime.spawn(timer::sleep(Duration::from_secs(3600)));
    let info = when_idle(&runtime, &idle);
    assert_eq!((info.age, info.waiting_for, info.polls), (Duration::ZERO, Duration::ZERO, 0));
    assert_eq!(info.waits_for, WaitsFor::Unknown);
    let stuck = runtime.spawn(async move { closed.wait() });
    let unlisted = runtime.spawn(async { windlass::spawn(async {}).await });
    let mut found = None;
    wait_until("it runs", || {
        found = find(runtime.handle(), stuck.id())
            .filter(|info| matches!(info.state, TaskState::Running { .. }));
        found.is_some()
    });
    let info = found.unwrap();
    let TaskState::Running { since, .. } = info.state else { panic!("{info:?}") };
    assert!(since >= start && info.age == Duration::ZERO, "{info:?}");
    gate.0.open();
    wait_for(stuck).unwrap();
    wait_for(unlisted).unwrap().unwrap();
}

/// A task on the only worker goes on while 100,000 others are listed.
#[test]
fn a_list_of_many_idle_tasks_holds_up_no_worker() {
    const TASKS: usize = 100_000;
    let runtime = runtime(1);
    (0..TASKS).for_each(|_| drop(runtime.spawn(pending::<()>())));
    wait_until("all are idle", || runtime.metrics().injector_len == 0);
    let ticks = Arc::new(AtomicUsize::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let ticker = {
        let (ticks, stop) = (ticks.clone(), stop.clone());
        runtime.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                ticks.fetch_add(1, Ordering::Relaxed);
                windlass::yield_now().await;
            }
        })
    };
    // It also spawns tasks that wait, and so needs the locks of the list.
    let spawner = {
        let (ticks, stop) = (ticks.clone(), stop.clone());
        runtime.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                windlass::spawn(windlass::yield_now()).await.unwrap();
                ticks.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    wait_until("both tick", || ticks.load(Ordering::Relaxed) > 10);
    // On a crowded machine, the worker may not get its turn during a list.
    let (mut lists, mut with_ticks) = (0, 0);
    while with_ticks < 3 {
        let start = ticks.load(Ordering::Relaxed);
        assert!(runtime.handle().tasks().len() >= TASKS);
        with_ticks += usize::from(ticks.load(Ordering::Relaxed) > start);
        lists += 1;
        assert!(lists < 100, "lists hold up the worker");
    }
    stop.store(true, Ordering::Relaxed);
    wait_for(ticker).unwrap();
    wait_for(spawner).unwrap();
}

/// What a list says of a task that ends meanwhile is said of that task, and not of what is in its memory by then.
#[test]
fn a_task_that_ends_while_it_is_listed_is_listed_as_itself_or_not_at_all() {
    const TASKS: u64 = 20_000;
    let runtime = runtime(2);
    let ended = Arc::new(AtomicUsize::new(0));
    let spawners: Vec<_> = (0..2)
        .map(|spawner| {
            let ended = ended.clone();
            runtime.spawn(async move {
                for number in 0..TASKS {
                    // Its name says how often it is polled.
                    let polls = 1 + number % 3;
                    let name = format!("{spawner} {number} {polls}");
                    let ends = async move {
                        for _ in 1..polls {
                            windlass::yield_now().await;
                        }
                    };
                    task::Builder::new().name(name).spawn(ends).await.unwrap();
                    ended.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let mut names = std::collections::HashMap::new();
    wait_until("all have ended", || {
        for info in runtime.handle().tasks() {
            let Some(name) = info.name else { continue };
            let numbers: Vec<u64> = name.split(' ').map(|number| number.parse().unwrap()).collect();
            let [_, number, polls] = numbers[..] else { panic!("{name:?}") };
            assert!(
                number < TASKS && u64::from(info.polls) <= polls,
                "{name:?}: {} polls",
                info.polls
            );
            let known = names.entry(info.id).or_insert_with(|| name.clone());
            assert_eq!(*known, name, "the name of {:?}", info.id);
        }
        ended.load(Ordering::Relaxed) as u64 == 2 * TASKS
    });
    spawners.into_iter().for_each(|task| wait_for(task).unwrap());
}
