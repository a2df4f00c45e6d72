//! The list of all tasks: who does what, and who waits for what.

mod util;

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use util::{Gate, runtime, wait_for, wait_until, within_patience};
use windlass::net::{TcpListener, TcpStream};
use windlass::observe::{Direction, SiteMetrics, TaskInfo, TaskState, WaitsFor};
use windlass::sync::{AutoResetEvent, CancellationToken, Latch, ManualResetEvent};
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
fn a_task_says_what_it_waits_for() {
    let runtime = runtime(2);
    let waits_for = |task: &JoinHandle<()>| when_idle(&runtime, task).waits_for;

    let deadline = timer::now() + Duration::from_secs(3600);
    let sleeper = runtime.spawn(timer::sleep_until(deadline));
    let WaitsFor::Timer { deadline: noted } = waits_for(&sleeper) else {
        panic!("{:?}", waits_for(&sleeper))
    };
    let off = noted.max(deadline) - noted.min(deadline);
    assert!(off < Duration::from_millis(1), "off by {off:?}");

    let sleeper_id = sleeper.id();
    let joiner = runtime.spawn(async move { sleeper.await.unwrap() });
    assert_eq!(waits_for(&joiner), WaitsFor::Join(sleeper_id));

    let event = Arc::new(AutoResetEvent::new(false));
    let waiter = runtime.spawn(async move { event.wait().await });
    assert_eq!(waits_for(&waiter), WaitsFor::Event);

    let event = Arc::new(ManualResetEvent::new(false));
    let waiter = runtime.spawn(async move { event.wait().await });
    assert_eq!(waits_for(&waiter), WaitsFor::Event);

    let token = CancellationToken::new();
    for owned in [false, true] {
        let token = token.clone();
        let waiter = runtime.spawn(async move {
            if owned { token.cancelled_owned().await } else { token.cancelled().await }
        });
        assert_eq!(waits_for(&waiter), WaitsFor::Cancellation);
    }

    let latch = Arc::new(Latch::new(1));
    let waiter = runtime.spawn(async move { latch.wait().await });
    assert_eq!(waits_for(&waiter), WaitsFor::Latch);

    // Any of several may be the next to end, and so none is named.
    let member = || async { pending::<()>().await };
    let several = runtime.spawn(async move {
        let mut set: task::JoinSet<()> = [member(), member()].into_iter().collect();
        let _ = set.join_next().await;
    });
    assert_eq!(waits_for(&several), WaitsFor::JoinSet { tasks: 2 });
    let (sender, ids) = std::sync::mpsc::channel();
    let single = runtime.spawn(async move {
        let mut set = task::JoinSet::new();
        let ended = set.spawn(async {});
        sender.send(set.spawn(member()).id()).unwrap();
        assert_eq!(set.join_next_with_id().await.unwrap().unwrap().0, ended.id());
        let _ = set.join_next().await;
    });
    let member = ids.recv_timeout(util::PATIENCE).unwrap();
    wait_until("the other has ended", || waits_for(&single) == WaitsFor::Join(member));

    let gate = Gate::new();
    let closed = gate.clone();
    let closure = runtime.spawn_blocking(move || closed.wait());
    let closure_id = closure.id();
    let blocked = runtime.spawn(async move { closure.await.unwrap() });
    assert_eq!(waits_for(&blocked), WaitsFor::Blocking(closure_id));
    gate.open();
    wait_for(blocked).unwrap();

    let foreign = runtime.spawn(pending());
    assert_eq!(waits_for(&foreign), WaitsFor::Unknown);
}

#[test]
fn a_task_that_reads_says_from_whom() {
    let runtime = runtime(2);
    let (sender, addresses) = std::sync::mpsc::channel();
    let server = runtime.spawn(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        sender.send(listener.local_addr().unwrap()).unwrap();
        let (stream, peer) = listener.accept().await.unwrap();
        sender.send(peer).unwrap();
        let mut byte = [0];
        // A time-out around it is not what it waits for.
        let read = timer::timeout(Duration::from_secs(3600), stream.read(&mut byte));
        assert_eq!(read.await.unwrap().unwrap(), 1);
    });
    let address = addresses.recv_timeout(util::PATIENCE).unwrap();
    let accepting = when_idle(&runtime, &server).waits_for;
    assert!(matches!(accepting, WaitsFor::Socket { peer: None, .. }), "{accepting:?}");
    let client = wait_for(runtime.spawn(TcpStream::connect(address))).unwrap().unwrap();
    let peer = addresses.recv_timeout(util::PATIENCE).unwrap();
    wait_until("it reads", || match when_idle(&runtime, &server).waits_for {
        WaitsFor::Socket { direction, peer: Some(noted), .. } => {
            assert_eq!(direction, Direction::Read);
            noted == peer
        }
        _ => false,
    });
    wait_for(runtime.spawn(async move { client.write_all(b"x").await.unwrap() })).unwrap();
    wait_for(server).unwrap();
}

#[test]
fn a_task_that_writes_says_so_with_its_descriptor() {
    let runtime = runtime(1);
    let (sender, opened) = std::sync::mpsc::channel();
    let writer = runtime.spawn(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (peer, _) = listener.accept().await.unwrap();
        sender.send((peer, number_of(&stream), stream.peer_addr().unwrap())).unwrap();
        // Nobody reads, so that the buffers are full at some time.
        while stream.write_all(&[0; 1 << 16]).await.is_ok() {}
    });
    let (peer, number, address) = opened.recv_timeout(util::PATIENCE).unwrap();
    wait_until("it writes", || match when_idle(&runtime, &writer).waits_for {
        WaitsFor::Socket { fd, direction: Direction::Write, peer } => {
            assert_eq!((fd, peer), (number, Some(address)));
            true
        }
        _ => false,
    });
    drop(peer);
    wait_for(writer).unwrap();
}

#[cfg(unix)]
fn number_of(stream: &TcpStream) -> u32 {
    use std::os::fd::{AsFd, AsRawFd};
    stream.as_fd().as_raw_fd() as u32
}

#[cfg(windows)]
fn number_of(stream: &TcpStream) -> u32 {
    use std::os::windows::io::{AsRawSocket, AsSocket};
    stream.as_socket().as_raw_socket() as u32
}

#[test]
fn a_wait_that_is_over_is_not_shown_for_the_next_one() {
    let runtime = runtime(1);
    let event = Arc::new(AutoResetEvent::new(false));
    let waits = event.clone();
    let task = runtime.spawn(async move {
        waits.wait().await;
        pending::<()>().await;
    });
    assert_eq!(when_idle(&runtime, &task).waits_for, WaitsFor::Event);
    event.set();
    wait_until("it waits for nobody knows what", || {
        when_idle(&runtime, &task).waits_for == WaitsFor::Unknown
    });
    assert_eq!(when_idle(&runtime, &task).polls, 2);
}

#[test]
fn age_and_wait_grow_with_the_time() {
    let start = Instant::now();
    let runtime = runtime(1);
    let task = runtime.spawn(pending::<()>());
    let first = when_idle(&runtime, &task);
    wait_until("ten milliseconds pass", || {
        let info = when_idle(&runtime, &task);
        info.age >= first.age + Duration::from_millis(10)
            && info.waiting_for >= Duration::from_millis(10)
    });
    let info = when_idle(&runtime, &task);
    let most = start.elapsed() + Duration::from_millis(5);
    assert!(info.age <= most && info.waiting_for <= most, "{info:?}");
}

#[test]
fn tasks_are_listed_while_every_worker_is_stuck() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let gate = Gate::new();
    let stuck: Vec<_> = (0..2)
        .map(|index| {
            let gate = gate.clone();
            let name = format!("stuck {index}");
            task::Builder::new().name(name).spawn_on(async move { gate.wait() }, runtime.handle())
        })
        .collect();
    let is_running = |task: &JoinHandle<()>| {
        let state = find(runtime.handle(), task.id()).map(|info| info.state);
        matches!(state, Some(TaskState::Running { .. }))
    };
    wait_until("both workers are stuck", || stuck.iter().all(is_running));
    let behind = runtime.spawn(async {});
    let handle = runtime.handle().clone();
    let tasks = within_patience("listing tasks", move || handle.tasks());
    assert_eq!(tasks.len(), 3, "{tasks:#?}");
    let info = tasks.iter().find(|info| info.id == behind.id()).unwrap();
    assert_eq!((info.state, info.polls), (TaskState::Queued, 0));
    assert_eq!(info.waits_for, WaitsFor::Nothing);
    let named = tasks.iter().filter(|info| info.name.as_deref() == Some("stuck 1"));
    assert_eq!(named.count(), 1);
    let workers: std::collections::HashSet<_> = tasks
        .iter()
        .filter_map(|info| match info.state {
            TaskState::Running { worker, since } => {
                assert!(since <= Instant::now());
                Some(worker)
            }
            _ => None,
        })
        .collect();
    assert_eq!(workers.len(), 2);
    gate.open();
    wait_for(behind).unwrap();
}

#[test]
fn an_unlisted_task_is_listed_while_it_is_stuck_in_its_first_poll() {
    let runtime = runtime(1);
    let gate = Gate::new();
    let (closed, opens) = (gate.clone(), gate.clone());
    let parent = runtime.spawn(async move { windlass::spawn(async move { closed.wait() }).await });
    let mut stuck = None;
    wait_until("the child is running", || {
        let tasks = runtime.handle().tasks();
        stuck = tasks
            .into_iter()
            .find(|info| info.id != parent.id() && matches!(info.state, TaskState::Running { .. }));
        stuck.is_some()
    });
    let stuck = stuck.unwrap();
    assert_eq!(stuck.location.file(), file!());
    opens.open();
    wait_for(parent).unwrap().unwrap();
    wait_until("all have ended", || runtime.handle().tasks().is_empty());
}

#[test]
fn a_stuck_poll_counts_for_its_task_and_its_site() {
    let runtime = runtime(1);
    // The monitor has to see that it is stuck, which takes some milliseconds, or more on a busy machine.
    let stuck_for = |time: Duration| {
        let gate = Gate::new();
        let closed = gate.clone();
        let stuck = async move {
            // Short polls first, so that the long one is none that would be timed anyway.
            for _ in 0..5 {
                windlass::yield_now().await;
            }
            closed.wait();
            pending::<()>().await;
        };
        let task = task::Builder::new().name("stuck once").spawn_on(stuck, runtime.handle());
        wait_until("it has been stuck for some time", || {
            let info = find(runtime.handle(), task.id()).unwrap();
            let TaskState::Running { since, .. } = info.state else { return false };
            info.polls == 6 && since.elapsed() > time
        });
        gate.open();
        when_idle(&runtime, &task).busy
    };
    let times = [20, 50, 100, 200, 500, 1_000, 3_000].map(Duration::from_millis);
    let seen = times.into_iter().find(|&time| stuck_for(time) >= time / 2);
    let seen = seen.expect("the monitor sees what is stuck for seconds");
    let named = |site: &&SiteMetrics| site.name.as_deref() == Some("stuck once");
    let mut metrics = runtime.metrics();
    wait_until("its site knows", || {
        metrics = runtime.metrics();
        metrics.sites.iter().find(named).is_some_and(|site| site.poll_time_max >= seen / 2)
    });
    let site = metrics.sites.iter().find(named).unwrap();
    assert!(site.poll_time_total >= site.poll_time_max, "{site:?}");
    assert!(metrics.poll_time.max() >= site.poll_time_max);
    assert_eq!((site.polls, site.alive), (6 * site.spawned, site.spawned));
}

#[test]
fn a_million_tasks_may_come_and_go_while_they_are_listed() {
    const TASKS: usize = 1_000_000;
    let runtime = runtime(2);
    let stop = Arc::new(AtomicBool::new(false));
    let ended = Arc::new(AtomicUsize::new(0));
    let kept: Vec<_> = (0..500).map(|_| runtime.spawn(pending::<()>())).collect();
    let spawners: Vec<_> = (0..2)
        .map(|_| {
            let (stop, ended) = (stop.clone(), ended.clone());
            runtime.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let tasks: Vec<_> = (0..100)
                        .map(|index| {
                            windlass::spawn(async move {
                                for _ in 0..index % 4 {
                                    windlass::yield_now().await;
                                }
                            })
                        })
                        .collect();
                    for task in tasks {
                        task.await.unwrap();
                        ended.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    let ids: std::collections::HashSet<_> = kept.iter().map(JoinHandle::id).collect();
    let mut lists = 0;
    wait_until("many tasks have come and gone", || {
        let tasks = runtime.handle().tasks();
        let listed: std::collections::HashSet<_> = tasks.iter().map(|info| info.id).collect();
        assert_eq!(listed.len(), tasks.len(), "no task is there twice");
        assert!(ids.is_subset(&listed), "those that stay are always there");
        lists += 1;
        lists >= 20 && ended.load(Ordering::Relaxed) >= TASKS
    });
    stop.store(true, Ordering::Relaxed);
    spawners.into_iter().for_each(|task| wait_for(task).unwrap());
}

#[test]
fn tasks_can_be_listed_during_a_shutdown_and_after_it() {
    let runtime = runtime(2);
    let handle = runtime.handle().clone();
    (0..1_000).for_each(|_| drop(runtime.spawn(pending::<()>())));
    let gate = Gate::new();
    let closed = gate.clone();
    let task = runtime.spawn(async move { closed.wait() });
    wait_until("it is stuck", || {
        let info = find(&handle, task.id());
        info.is_some_and(|info| matches!(info.state, TaskState::Running { .. }))
    });
    let shutdown = std::thread::spawn(move || runtime.shutdown(util::PATIENCE));
    wait_until("all but one have ended", || handle.tasks().len() == 1);
    gate.open();
    assert!(shutdown.join().unwrap().stragglers().is_empty());
    assert!(handle.tasks().is_empty());
    assert!(handle.metrics().to_openmetrics().ends_with("# EOF\n"));
    handle.flight_record(&mut Vec::new()).unwrap();
}

#[test]
fn a_hundred_thousand_idle_tasks_are_listed() {
    const TASKS: usize = 100_000;
    let runtime = runtime(2);
    let waiting = Arc::new(AtomicUsize::new(0));
    let spawner = {
        let waiting = waiting.clone();
        runtime.spawn(async move {
            for _ in 0..TASKS {
                let waiting = waiting.clone();
                let mut polled = false;
                drop(windlass::spawn(poll_fn(move |_| {
                    waiting.fetch_add(usize::from(!polled), Ordering::Relaxed);
                    polled = true;
                    Poll::<()>::Pending
                })));
            }
        })
    };
    wait_for(spawner).unwrap();
    wait_until("all are idle", || {
        waiting.load(Ordering::Relaxed) == TASKS
            && runtime.metrics().workers.iter().all(|worker| worker.queue_len == 0)
    });
    let start = Instant::now();
    let tasks = runtime.handle().tasks();
    println!("{TASKS} tasks were listed in {:?}", start.elapsed());
    assert_eq!(tasks.len(), TASKS);
    assert!(tasks.iter().all(|info| info.polls == 1));
}
