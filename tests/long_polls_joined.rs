//! A report says whether a thread waits in a `join` for what is stuck: then a lock may be held across that `join`.

mod util;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use util::{Gate, OpenOnDrop, wait_for};
use windlass::{Builder, LongPoll, LongPollKind, Runtime};

const AFTER: Duration = Duration::from_millis(200);
/// With stacks, and on a crowded machine, reports take their time.
const LONG: Duration = Duration::from_secs(60);

/// Blocks until it is so, with more patience than a gate has.
fn block_until(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() && start.elapsed() < LONG {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A runtime that reports to the channel.
fn reporting(builder: Builder) -> (Runtime, Receiver<LongPoll>) {
    let (sender, receiver) = mpsc::channel();
    let send = move |report: &LongPoll| drop(sender.send(report.clone()));
    (builder.report_long_polls(AFTER).on_long_poll(send).build().unwrap(), receiver)
}

/// The next report that is wanted: on a crowded machine, what only waits for a CPU is reported too.
#[track_caller]
fn find(reports: &Receiver<LongPoll>, wanted: impl Fn(&LongPoll) -> bool) -> LongPoll {
    let deadline = Instant::now() + LONG;
    loop {
        let report = reports.recv_timeout(LONG).expect("a report within patience");
        if wanted(&report) {
            return report;
        }
        assert!(Instant::now() < deadline, "others were reported, {report} for example");
    }
}

/// What holding a lock across `join` leads to: the thief waits for the lock, and the holder for the thief.
#[test]
fn a_stolen_job_that_waits_for_a_lock_of_its_joiner_is_reported_as_joined() {
    let (runtime, reports) = reporting(Builder::new().workers(2));
    // Stands for the lock, because a dead-lock would outlast the test.
    let (lock, began) = (OpenOnDrop(Gate::new()), Arc::new(AtomicBool::new(false)));
    let held = lock.0.clone();
    let task = {
        let _entered = runtime.handle().enter();
        windlass::compute(move || {
            let is_stolen = || began.load(SeqCst);
            let takes_lock = || {
                began.store(true, SeqCst);
                block_until(|| held.is_open());
            };
            windlass::join(|| block_until(is_stolen), takes_lock);
        })
    };
    let report = find(&reports, |report| report.kind() == LongPollKind::Job && report.is_joined());
    let text = report.to_string();
    let first = text.lines().next().unwrap();
    assert!(first.contains("another thread waits for it in a join"), "{text}");
    assert!(first.contains("is that lock held across the join?"), "{text}");
    lock.0.open();
    wait_for(task).unwrap();
}

/// Worse: the holder itself runs a job that wants the lock, on top of its `join`, and waits for itself.
#[test]
fn a_job_that_its_thread_runs_on_top_of_its_own_join_is_reported_as_such() {
    let (runtime, reports) = reporting(Builder::new().workers(2));
    let lock = OpenOnDrop(Gate::new());
    let held = lock.0.clone();
    let flags: [_; 2] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
    let task = {
        let _entered = runtime.handle().enter();
        windlass::compute(move || {
            let [outer, inner] = &flags;
            let holder = std::thread::current().id();
            windlass::join(
                || block_until(|| outer.load(SeqCst)),
                // The other worker has this, and offers one half: there is nobody but the holder to take it.
                || {
                    outer.store(true, SeqCst);
                    windlass::join(
                        || block_until(|| inner.load(SeqCst)),
                        || {
                            assert_eq!(std::thread::current().id(), holder, "taken by the holder");
                            inner.store(true, SeqCst);
                            block_until(|| held.is_open());
                        },
                    );
                },
            );
        })
    };
    let on_top = "inside of a join that waits on the same thread";
    let report = find(&reports, |report| report.to_string().contains(on_top));
    assert!(report.is_joined(), "{report}");
    lock.0.open();
    wait_for(task).unwrap();
}

/// A task that is polled at a split point holds up the computation around it, which may hold what it wants.
#[test]
fn a_task_that_is_stuck_in_place_is_reported_as_joined_and_one_by_itself_is_not() {
    let (runtime, reports) = reporting(Builder::new().workers(1).max_spares(0));
    let gate = OpenOnDrop(Gate::new());
    let (began, open) = (Gate::new(), gate.0.clone());
    let tell = began.clone();
    let compute = {
        let _entered = runtime.handle().enter();
        windlass::compute(move || {
            tell.open();
            while !open.is_open() {
                windlass::join(|| (), || ());
            }
        })
    };
    began.wait();
    let closed = gate.0.clone();
    let inner = runtime.spawn(async move { block_until(|| closed.is_open()) });
    let report = find(&reports, |report| report.task() == Some(inner.id()));
    assert!(report.is_joined() && report.kind() == LongPollKind::Task, "{report}");
    gate.0.open();
    wait_for(inner).unwrap();
    wait_for(compute).unwrap();

    let gate = OpenOnDrop(Gate::new());
    let closed = gate.0.clone();
    let alone = runtime.spawn(async move { block_until(|| closed.is_open()) });
    let report = find(&reports, |report| report.task() == Some(alone.id()));
    assert!(!report.is_joined() && !report.to_string().contains("held across"), "{report}");
    gate.0.open();
    wait_for(alone).unwrap();
}
