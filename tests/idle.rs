//! An idle runtime costs nothing: no thread of it wakes up.
#![cfg(target_os = "linux")]

mod util;

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use util::{AsyncGate, Gate, OpenOnDrop, wait_for, wait_until};
use windlass::{Builder, Runtime};

/// How often each of the threads whose name begins so has been switched to.
fn switches(name: &str) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir("/proc/self/task").unwrap() {
        let path = entry.unwrap().path();
        // A thread may end while it is looked at.
        let Ok(status) = fs::read_to_string(path.join("status")) else { continue };
        let field = |key: &str| {
            let line = status.lines().find(|line| line.starts_with(key))?;
            Some(line.split(':').nth(1)?.trim().to_owned())
        };
        let (Some(thread), Some(voluntary)) = (field("Name"), field("voluntary_ctxt_switches"))
        else {
            continue;
        };
        if thread.starts_with(name) {
            all.insert(path.display().to_string(), voluntary.parse().unwrap());
        }
    }
    all
}

/// Passes as soon as no thread was switched to for a third of a second.
#[track_caller]
fn falls_silent(name: &str, threads: usize) {
    let deadline = Instant::now() + util::PATIENCE;
    loop {
        let before = switches(name);
        thread::sleep(Duration::from_millis(350));
        let after = switches(name);
        if before == after && after.len() == threads {
            return;
        }
        assert!(Instant::now() < deadline, "no silence: {before:?}, then {after:?}");
    }
}

/// How long all threads whose name begins so have been running.
fn running_time(name: &str) -> Duration {
    let mut nanos = 0;
    for entry in fs::read_dir("/proc/self/task").unwrap() {
        let path = entry.unwrap().path();
        let read = |file| fs::read_to_string(path.join(file)).unwrap_or_default();
        if read("comm").starts_with(name) {
            nanos += read("schedstat").split(' ').next().map_or(0, |it| it.parse().unwrap_or(0));
        }
    }
    Duration::from_nanos(nanos)
}

fn named(name: &str) -> Runtime {
    named_with(name, Builder::new())
}

fn named_with(name: &str, builder: Builder) -> Runtime {
    builder.workers(2).thread_name(name).stuck_after(Duration::from_millis(2)).build().unwrap()
}

#[test]
fn no_thread_wakes_up_before_and_after_work() {
    let runtime = named("quiet");
    // Two workers and the poller.
    falls_silent("quiet", 3);
    for _ in 0..1_000 {
        wait_for(runtime.spawn(async { windlass::spawn(async {}).await.unwrap() })).unwrap();
    }
    falls_silent("quiet", 3);
}

/// The thread that had stood guard over timers woke a worker to look at none, each millisecond.
#[test]
fn no_thread_wakes_up_after_the_last_timer() {
    for round in 0..4 {
        let name = format!("timed{round}");
        let runtime = named(&name);
        let tasks: Vec<_> = (0..20)
            .map(|task| {
                runtime.spawn(async move {
                    for _ in 0..20 {
                        windlass::timer::sleep(Duration::from_micros(500 + task * 100)).await;
                    }
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| wait_for(task).unwrap());
        falls_silent(&name, 3);
    }
}

#[test]
fn tasks_that_wait_cost_nothing() {
    let runtime = named("waits");
    let gate = AsyncGate::new();
    let tasks: Vec<_> = (0..1_000)
        .map(|_| {
            let gate = gate.clone();
            runtime.spawn(async move { gate.wait().await })
        })
        .collect();
    wait_until("all wait", || gate.waiting() == 1_000);
    falls_silent("waits", 3);
    gate.open();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
    falls_silent("waits", 3);
}

#[test]
fn timers_that_are_far_away_cost_nothing() {
    let runtime = named("dozer");
    const DAY: u64 = 86_400;
    // An hour; beyond what fits into 31 bits of milliseconds; nearly all the clock can say; and never.
    for time in [DAY / 24, 25 * DAY, 500 * 365 * DAY, u64::MAX].map(Duration::from_secs) {
        let nap = runtime.spawn(async move {
            // The worker has sat for a timer before.
            windlass::timer::sleep(Duration::from_millis(1)).await;
            windlass::timer::sleep(time).await;
        });
        let foreign = {
            let _entered = runtime.enter();
            let mut nap = windlass::timer::sleep(time);
            assert!(util::poll_once(&mut nap).is_pending());
            nap
        };
        wait_until("both wait", || runtime.metrics().timers == 2);
        falls_silent("dozer", 3);
        nap.abort();
        assert!(wait_for(nap).is_err());
        drop(foreign);
    }
    falls_silent("dozer", 3);
}

#[test]
fn after_spares_have_stepped_in_silence_returns() {
    let runtime = named("spare");
    for _ in 0..5 {
        let release = util::OpenOnDrop(util::Gate::new());
        let busy = util::Count::new();
        let stuck = [(); 2].map(|()| {
            let (release, busy) = (release.0.clone(), busy.clone());
            runtime.spawn(async move {
                busy.add();
                release.wait();
            })
        });
        busy.wait_for(2);
        wait_for(runtime.spawn(async {})).unwrap();
        release.0.open();
        for task in stuck {
            wait_for(task).unwrap();
        }
        wait_until("the spares go home", || runtime.metrics().spares_active == 0);
    }
    falls_silent("spare", 3);
}

/// The poller's thread looked each millisecond while a worker was blocked, although nothing waited for it.
#[test]
fn a_blocked_worker_that_nothing_waits_for_costs_next_to_nothing() {
    // With the other worker asleep in the seat, and with none left.
    for (round, blocked) in [(0, 1), (1, 2)] {
        let name = format!("stuck{round}");
        let builder = Builder::new().workers(2).thread_name(&*name);
        let runtime = builder.stuck_after(Duration::from_millis(2)).build().unwrap();
        // Sockets and timers that are not due are nothing that waits.
        let quiet = runtime.spawn(async {
            let socket = windlass::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let mut byte = [0];
            let received = socket.recv(&mut byte);
            _ = windlass::timer::timeout(Duration::from_secs(3600), received).await;
        });
        wait_until("it waits", || runtime.metrics().timers == 1);
        let release = OpenOnDrop(Gate::new());
        let busy = util::Count::new();
        for _ in 0..blocked {
            let (release, busy) = (release.0.clone(), busy.clone());
            drop(runtime.spawn(async move {
                busy.add();
                release.wait();
            }));
        }
        busy.wait_for(blocked);
        // Ten looks a second are what is left, twice as many to be on the safe side.
        let poller = format!("{name}-poller");
        let deadline = Instant::now() + util::PATIENCE;
        loop {
            let (before, start) = (switches(&poller), Instant::now());
            thread::sleep(Duration::from_millis(500));
            let after = switches(&poller);
            assert_eq!(after.len(), 1, "{after:?}");
            let woken: u64 = after.values().sum::<u64>() - before.values().sum::<u64>();
            if u128::from(woken) <= start.elapsed().as_millis() / 50 {
                break;
            }
            assert!(Instant::now() < deadline, "woke up {woken} times");
        }
        quiet.abort();
    }
}

#[test]
fn idle_blocking_threads_sleep_until_their_time_is_over() {
    // Or else the thread may be gone before it is seen asleep.
    let runtime = named_with("block", Builder::new().blocking_keep_alive(Duration::MAX));
    wait_for(runtime.spawn_blocking(|| ())).unwrap();
    falls_silent("block", 4);
}

/// Its own offer, the other half of the join around the scope, kept it awake.
#[test]
fn a_scope_that_waits_for_a_stolen_job_sleeps() {
    let runtime = named("scope");
    let (stolen, release) = (Gate::new(), Gate::new());
    let _open = OpenOnDrop(release.clone());
    let computed = {
        let _entered = runtime.enter();
        let (stolen, release) = (stolen.clone(), release.clone());
        windlass::compute(move || {
            let scope = || {
                windlass::scope(|s| {
                    s.spawn(|_| {
                        stolen.open();
                        release.wait();
                    });
                    stolen.wait();
                });
            };
            windlass::join(scope, || ())
        })
    };
    stolen.wait();
    let mut before = running_time("scope");
    wait_until("the one that waits sleeps", || {
        thread::sleep(Duration::from_millis(50));
        let now = running_time("scope");
        now - std::mem::replace(&mut before, now) < Duration::from_millis(4)
    });
    release.open();
    wait_for(computed).unwrap();
}
