//! What is stuck is reported while it is: whatever the callback does, and however much is stuck.

mod util;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use util::{Gate, OpenOnDrop, PATIENCE, wait_for, wait_until};
use windlass::task;
use windlass::{Builder, LongPoll, LongPollKind, Runtime};

const AFTER: Duration = Duration::from_millis(200);

/// A runtime that reports to the channel.
fn reporting(workers: usize) -> (Runtime, Receiver<LongPoll>) {
    reporting_with(Builder::new().workers(workers))
}

fn reporting_with(builder: Builder) -> (Runtime, Receiver<LongPoll>) {
    let (sender, receiver) = mpsc::channel();
    let send = move |report: &LongPoll| drop(sender.send(report.clone()));
    let runtime = builder.report_long_polls(AFTER).on_long_poll(send).build().unwrap();
    (runtime, receiver)
}

#[track_caller]
fn next(reports: &Receiver<LongPoll>) -> LongPoll {
    reports.recv_timeout(PATIENCE).expect("a report within patience")
}

/// The next report that is wanted: on a crowded machine, a poll that only waits for a CPU is reported too.
#[track_caller]
fn find(reports: &Receiver<LongPoll>, wanted: impl Fn(&LongPoll) -> bool) -> LongPoll {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let report = next(reports);
        if wanted(&report) {
            return report;
        }
        assert!(Instant::now() < deadline, "others were reported, {report} for example");
    }
}

#[track_caller]
fn find_task(reports: &Receiver<LongPoll>, task: task::Id) -> LongPoll {
    find(reports, |report| report.task() == Some(task))
}

#[test]
fn a_stuck_poll_is_reported_while_it_lasts() {
    let (runtime, reports) = reporting(2);
    let gate = OpenOnDrop(Gate::new());
    let inner = gate.0.clone();
    let (line, builder) = (line!() + 1, task::Builder::new().name("stuck"));
    let task = builder.spawn_on(async move { inner.wait() }, runtime.handle());
    let report = find_task(&reports, task.id());
    assert_eq!(report.kind(), LongPollKind::Task);
    assert!(!task.is_finished() && !gate.0.is_open(), "it lasts");
    assert_eq!(report.name(), Some("stuck"));
    assert_eq!(report.location().map(|location| location.line()), Some(line));
    assert!(report.worker().is_some() && report.elapsed() >= AFTER, "{report:?}");
    assert!(report.to_string().contains("\"stuck\""), "{report}");
    let kept = runtime.handle().long_polls();
    assert!(kept.iter().any(|kept| kept.task() == Some(task.id())));
    gate.0.open();
    wait_for(task).unwrap();
}

/// A task that was spawned in a task is in no list before its first poll has ended.
#[test]
fn a_task_that_is_in_no_list_is_named_by_its_site() {
    let (runtime, reports) = reporting(2);
    let gate = OpenOnDrop(Gate::new());
    let inner = gate.0.clone();
    let (tell, told) = mpsc::channel();
    let outer = runtime.spawn(async move {
        let line = line!() + 1;
        let task = windlass::spawn(async move { inner.wait() });
        tell.send((task.id(), line)).unwrap();
        task.await.unwrap();
    });
    let (id, line) = told.recv_timeout(PATIENCE).unwrap();
    let report = find_task(&reports, id);
    gate.0.open();
    wait_for(outer).unwrap();
    assert_eq!(report.location().map(|location| location.line()), Some(line));
}

#[test]
fn all_workers_stuck_are_all_reported() {
    let (runtime, reports) = reporting_with(Builder::new().workers(64).max_spares(0));
    let gate = OpenOnDrop(Gate::new());
    let started = Arc::new(AtomicUsize::new(0));
    let spawn = |_| {
        let (gate, started) = (gate.0.clone(), started.clone());
        runtime.spawn(async move {
            started.fetch_add(1, SeqCst);
            gate.wait();
        })
    };
    let mut tasks: Vec<_> = (0..64).map(spawn).collect();
    wait_until("all are stuck", || started.load(SeqCst) == 64);
    let mut missing: std::collections::HashSet<_> = tasks.iter().map(|task| task.id()).collect();
    while !missing.is_empty() {
        let report = next(&reports);
        missing.remove(&report.task().unwrap());
    }
    assert_eq!(runtime.handle().long_polls_dropped(), 0);
    gate.0.open();
    tasks.drain(..).for_each(|task| wait_for(task).unwrap());
}

#[test]
fn a_poll_is_reported_once() {
    let (runtime, reports) = reporting(1);
    let gate = OpenOnDrop(Gate::new());
    let inner = gate.0.clone();
    let first = runtime.spawn(async move { inner.wait() });
    find_task(&reports, first.id());
    // The monitor has looked many times by the time another one is reported.
    let inner = gate.0.clone();
    let second = runtime.spawn(async move { inner.wait() });
    find_task(&reports, second.id());
    let kept = runtime.handle().long_polls();
    assert_eq!(kept.iter().filter(|kept| kept.task() == Some(first.id())).count(), 1);
    gate.0.open();
    wait_for(first).unwrap();
    wait_for(second).unwrap();
}

#[test]
fn a_callback_that_panics_is_called_again() {
    let (sender, reports) = mpsc::channel();
    let report = move |report: &LongPoll| {
        drop(sender.send(report.clone()));
        util::throw("in the callback");
    };
    let runtime =
        Builder::new().workers(2).report_long_polls(AFTER).on_long_poll(report).build().unwrap();
    for _ in 0..2 {
        let gate = OpenOnDrop(Gate::new());
        let inner = gate.0.clone();
        let task = runtime.spawn(async move { inner.wait() });
        while next(&reports).task() != Some(task.id()) {}
        gate.0.open();
        wait_for(task).unwrap();
    }
}

/// The queue fills up, and everything else goes on: tasks run on spares, timers fire, and the runtime ends.
#[test]
fn a_callback_that_blocks_holds_up_nobody() {
    let blocked = OpenOnDrop(Gate::new());
    let (called, inner) = (Gate::new(), blocked.0.clone());
    let called_inside = called.clone();
    let report = move |_: &LongPoll| {
        called_inside.open();
        inner.wait();
    };
    let builder = Builder::new().workers(1).stuck_after(Duration::from_millis(1));
    let runtime = builder.report_long_polls(AFTER).on_long_poll(report).build().unwrap();
    let gate = OpenOnDrop(Gate::new());
    let inner = gate.0.clone();
    let stuck = runtime.spawn(async move { inner.wait() });
    called.wait();
    let other = runtime.spawn(async {
        windlass::timer::sleep(Duration::from_millis(1)).await;
        42
    });
    assert_eq!(wait_for(other).unwrap(), 42);
    gate.0.open();
    wait_for(stuck).unwrap();
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn a_leaf_without_split_points_and_a_stolen_job_are_reported() {
    let (runtime, reports) = reporting(2);
    let gate = OpenOnDrop(Gate::new());
    let (left, right) = (gate.0.clone(), gate.0.clone());
    let handle = runtime.handle().clone();
    let caller = std::thread::spawn(move || {
        handle.install(|| windlass::join(|| left.wait(), || right.wait()));
    });
    let first = find(&reports, |report| report.kind() == LongPollKind::Job);
    let second = find(&reports, |report| report.worker() != first.worker());
    assert_eq!(second.kind(), LongPollKind::Job);
    assert!(first.task().is_none() && second.task().is_none(), "{first}, {second}");
    gate.0.open();
    caller.join().unwrap();

    let gate = OpenOnDrop(Gate::new());
    let inner = gate.0.clone();
    let task = {
        let _entered = runtime.handle().enter();
        windlass::compute(move || inner.wait())
    };
    find(&reports, |report| {
        report.kind() == LongPollKind::Leaf && report.task() == Some(task.id())
    });
    gate.0.open();
    wait_for(task).unwrap();
}

#[test]
fn a_full_blocking_pool_is_reported_while_all_workers_sleep() {
    let (runtime, reports) = reporting_with(Builder::new().workers(1).max_blocking(1));
    let gate = OpenOnDrop(Gate::new());
    let closures: Vec<_> = (0..3)
        .map(|_| {
            let gate = gate.0.clone();
            runtime.spawn_blocking(move || gate.wait())
        })
        .collect();
    let report = find(&reports, |report| report.kind() == LongPollKind::BlockingPool);
    // How many of the three depends on when the pool was looked at.
    assert!((1..=3).contains(&report.waiting()), "{report:?}");
    assert!(report.to_string().contains(" wait"), "{report}");
    gate.0.open();
    closures.into_iter().for_each(|closure| wait_for(closure).unwrap());
}

/// Returns what is known now of the reports on something.
fn kept(runtime: &Runtime, wanted: impl Fn(&LongPoll) -> bool) -> Vec<LongPoll> {
    let mut kept = runtime.handle().long_polls();
    kept.retain(wanted);
    kept
}

#[test]
fn a_report_lasts_as_long_as_the_poll_that_it_is_on() {
    let (runtime, reports) = reporting(2);
    let gates = [0; 2].map(|_| OpenOnDrop(Gate::new()));
    let inner = gates.each_ref().map(|gate| gate.0.clone());
    let task = runtime.spawn(async move {
        for gate in inner {
            gate.wait();
            windlass::yield_now().await;
        }
    });
    let id = task.id();
    let lasts = || -> Vec<_> {
        kept(&runtime, |kept| kept.task() == Some(id)).iter().map(LongPoll::lasts).collect()
    };
    let first = find_task(&reports, id);
    assert!(first.lasts());
    assert_eq!(lasts(), [true]);
    let elapsed = || kept(&runtime, |kept| kept.task() == Some(id))[0].elapsed();
    let seen = elapsed();
    assert!(seen > first.elapsed(), "it goes on");
    gates[0].0.open();
    wait_until("the first is over", || !lasts()[0]);
    assert!(elapsed() >= seen, "what was seen of it is not forgotten");
    find_task(&reports, id);
    assert_eq!(lasts(), [false, true]);
    gates[1].0.open();
    wait_for(task).unwrap();
    // Those who wait for a task are woken before its last poll has returned.
    // On a crowded machine, that one may be reported too.
    wait_until("all are over", || lasts().iter().all(|lasts| !lasts));
}

#[test]
fn a_report_on_a_full_blocking_pool_lasts_until_nothing_waits() {
    let (runtime, reports) = reporting_with(Builder::new().workers(1).max_blocking(1));
    let is_full = |report: &LongPoll| report.kind() == LongPollKind::BlockingPool;
    let lasts = || -> Vec<_> { kept(&runtime, is_full).iter().map(LongPoll::lasts).collect() };
    for round in 0..2 {
        let gate = OpenOnDrop(Gate::new());
        let block = || {
            let gate = gate.0.clone();
            runtime.spawn_blocking(move || gate.wait())
        };
        let closures = [block(), block()];
        find(&reports, is_full);
        let known = lasts();
        assert_eq!((known.len(), known[round]), (round + 1, true), "each time is reported");
        assert!(known[..round].iter().all(|lasts| !lasts), "{known:?}");
        gate.0.open();
        closures.into_iter().for_each(|closure| wait_for(closure).unwrap());
        wait_until("it is over", || !lasts()[round]);
    }
}

#[test]
fn block_on_in_a_task_of_one_thread_is_reported_once_for_each_place() {
    let (runtime, reports) = reporting(1);
    let handle = runtime.handle().clone();
    for round in 0..2 {
        let handle = handle.clone();
        let task =
            runtime.handle().spawn_pinned(move || async move { handle.block_on(async { 1 }) });
        let id = task.id();
        assert_eq!(wait_for(task).unwrap(), 1);
        if round == 0 {
            let report = find_task(&reports, id);
            assert_eq!(report.kind(), LongPollKind::BlockOn);
            assert!(report.location().unwrap().file().ends_with("long_polls.rs"));
        }
    }
    // Elsewhere it is allowed.
    let inner = handle.clone();
    wait_for(runtime.spawn_blocking(move || inner.block_on(async {}))).unwrap();
    let kept = handle.long_polls();
    assert_eq!(kept.iter().filter(|kept| kept.kind() == LongPollKind::BlockOn).count(), 1);
}

/// Nothing is injected into what is printed.
#[test]
fn names_are_escaped() {
    let (runtime, reports) = reporting(2);
    let gate = OpenOnDrop(Gate::new());
    let inner = gate.0.clone();
    let name = "a\n\"b\"\x1b[31m <script>";
    let task = task::Builder::new().name(name);
    let task = task.spawn_on(async move { inner.wait() }, runtime.handle());
    let report = find_task(&reports, task.id());
    assert_eq!(report.name(), Some(name));
    let text = report.to_string();
    let first = text.lines().next().unwrap();
    assert!(first.contains(r#""a\n\"b\"\u{1b}[31m <script>""#), "{text}");
    gate.0.open();
    wait_for(task).unwrap();
}

#[test]
fn blocking_in_place_is_no_long_poll() {
    // On a crowded machine, the poll may last that long before it comes to the call.
    let unreported = (0..5).any(|_| blocks_in_place_unreported());
    assert!(unreported, "it is reported each time");
}

/// Blocks in place for longer than a poll may last. Returns true if that is not reported.
fn blocks_in_place_unreported() -> bool {
    let (runtime, reports) = reporting(1);
    let gate = OpenOnDrop(Gate::new());
    let (inside, inner) = (Gate::new(), gate.0.clone());
    let told = inside.clone();
    let allowed = runtime.spawn(async move {
        task::block_in_place(|| {
            told.open();
            inner.wait();
        });
    });
    inside.wait();
    let inner = gate.0.clone();
    let stuck = runtime.spawn(async move { inner.wait() }); // on a spare
    find_task(&reports, stuck.id());
    let unreported = kept(&runtime, |kept| kept.task() == Some(allowed.id())).is_empty();
    gate.0.open();
    wait_for(allowed).unwrap();
    wait_for(stuck).unwrap();
    unreported
}
