//! Panics end where they happen: the handle tells, the worker lives, the others go on.

mod util;

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;

use util::{
    AsyncGate, Count, PATIENCE, ThrowOnDrop, runtime, text_of, throw, wait_for, wait_until,
};
use windlass::task::JoinError;
use windlass::{Builder, Runtime};

/// One worker, for which nobody stands in: not even while the OS keeps it from running.
fn lone_worker() -> Runtime {
    Builder::new().workers(1).max_spares(0).build().unwrap()
}

/// Checks that the only worker is the thread it was, and still works.
#[track_caller]
fn worker_lives(runtime: &Runtime, worker: thread::ThreadId) {
    assert_eq!(worker_of(runtime), worker);
}

fn worker_of(runtime: &Runtime) -> thread::ThreadId {
    wait_for(runtime.spawn(async { thread::current().id() })).unwrap()
}

fn message<T>(result: Result<T, JoinError>) -> String {
    let payload = result.err().expect("it panicked").into_panic();
    text_of(&*payload).to_owned()
}

#[test]
fn a_panic_in_a_poll_reaches_the_handle() {
    let runtime = lone_worker();
    let worker = worker_of(&runtime);
    let dropped = Count::new();
    let guard = dropped.on_drop();
    let task = runtime.spawn(async move {
        let _guard = guard;
        windlass::yield_now().await;
        throw("in poll")
    });
    let result: Result<(), JoinError> = wait_for(task);
    assert_eq!(message(result), "in poll");
    assert_eq!(dropped.get(), 1);
    worker_lives(&runtime, worker);
    wait_until("it is counted", || runtime.metrics().tasks_panicked == 1);
}

/// A future whose drop panics.
struct Explosive<F>(F, #[expect(dead_code, reason = "only its drop matters")] ThrowOnDrop);

impl<F: Future + Unpin> Future for Explosive<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}

fn explosive<F: Future>(future: F) -> Explosive<Pin<Box<F>>> {
    Explosive(Box::pin(future), ThrowOnDrop("in drop"))
}

#[test]
fn a_panic_in_the_drop_of_a_finished_future_reaches_the_handle_instead_of_the_output() {
    let runtime = lone_worker();
    let worker = worker_of(&runtime);
    let outputs = Count::new();
    let output = outputs.on_drop();
    let result = wait_for(runtime.spawn(explosive(async move { output })));
    assert_eq!(message(result), "in drop");
    assert_eq!(outputs.get(), 1);
    worker_lives(&runtime, worker);
}

#[test]
fn of_two_panics_in_poll_and_drop_the_first_is_told() {
    let runtime = lone_worker();
    let worker = worker_of(&runtime);
    let result: Result<(), JoinError> =
        wait_for(runtime.spawn(explosive(async { throw("in poll") })));
    assert_eq!(message(result), "in poll");
    worker_lives(&runtime, worker);
}

#[test]
fn an_aborted_task_whose_drop_panics_tells_of_the_panic() {
    let runtime = lone_worker();
    let worker = worker_of(&runtime);
    let task = runtime.spawn(explosive(pending::<()>()));
    task.abort();
    let error = wait_for(task).unwrap_err();
    assert!(error.is_panic());
    worker_lives(&runtime, worker);
}

#[test]
fn a_panic_in_the_outputs_drop_is_swallowed_wherever_it_happens() {
    let runtime = lone_worker();
    let worker = worker_of(&runtime);
    let gate = AsyncGate::new();
    let detached = {
        let gate = gate.clone();
        runtime.spawn(async move {
            gate.wait().await;
            ThrowOnDrop("in the output's drop")
        })
    };
    drop(detached);
    gate.open();
    wait_until("it ends", || runtime.metrics().tasks_alive == 0);
    worker_lives(&runtime, worker);

    let finished = runtime.spawn(async { ThrowOnDrop("in the output's drop") });
    wait_until("it ends", || finished.is_finished());
    drop(finished);
    worker_lives(&runtime, worker);
}

/// A joiner's waker that counts and panics.
struct ThrowOnWake(Count);

impl Wake for ThrowOnWake {
    fn wake(self: Arc<Self>) {
        self.0.add();
        throw("in a waker");
    }
}

#[test]
fn a_joiners_waker_that_panics_disturbs_neither_the_worker_nor_other_waiters() {
    let runtime = lone_worker();
    let worker = worker_of(&runtime);
    let (gate, woken) = (AsyncGate::new(), Count::new());
    let spawn = || {
        let gate = gate.clone();
        runtime.spawn(async move {
            gate.wait().await;
            1
        })
    };
    let (mut bad, good) = (spawn(), spawn());
    let waker = Waker::from(Arc::new(ThrowOnWake(woken.clone())));
    let mut context = Context::from_waker(&waker);
    assert!(Pin::new(&mut bad).poll(&mut context).is_pending());
    let good = runtime.spawn(good);
    wait_until("both wait", || gate.waiting() == 2);
    gate.open();
    assert_eq!(wait_for(good).unwrap().unwrap(), 1);
    woken.wait_for(1);
    assert_eq!(wait_for(bad).unwrap(), 1);
    worker_lives(&runtime, worker);
}

/// What a hand-made waker's drop or clone does, by its data pointer.
static EXPLOSIVE_DROP: RawWakerVTable = RawWakerVTable::new(
    |data| RawWaker::new(data, &EXPLOSIVE_DROP),
    ignore,
    ignore,
    |_| throw("in a waker's drop"),
);
static EXPLOSIVE_CLONE: RawWakerVTable =
    RawWakerVTable::new(|_| throw("in a waker's clone"), ignore, ignore, ignore);

fn ignore(_: *const ()) {}

fn hand_made(vtable: &'static RawWakerVTable) -> std::mem::ManuallyDrop<Waker> {
    // SAFETY: the functions of the vtables use no data, so any thread may call them at any time.
    std::mem::ManuallyDrop::new(unsafe { Waker::new(std::ptr::null(), vtable) })
}

#[test]
fn a_joiners_waker_that_panics_when_dropped_or_cloned_is_survived() {
    let runtime = lone_worker();
    let worker = worker_of(&runtime);
    let gate = AsyncGate::new();
    let spawn = || {
        let gate = gate.clone();
        runtime.spawn(async move {
            gate.wait().await;
            2
        })
    };
    let waker = hand_made(&EXPLOSIVE_DROP);
    let mut context = Context::from_waker(&waker);
    let (mut replaced, mut dropped, mut woken) = (spawn(), spawn(), spawn());
    for task in [&mut replaced, &mut dropped, &mut woken] {
        assert!(Pin::new(task).poll(&mut context).is_pending());
    }
    assert!(util::poll_once(&mut replaced).is_pending());
    drop(dropped);

    let mut refused = spawn();
    let waker = hand_made(&EXPLOSIVE_CLONE);
    let mut context = Context::from_waker(&waker);
    let clone = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut refused).poll(&mut context)));
    assert_eq!(text_of(&*clone.unwrap_err()), "in a waker's clone");

    gate.open();
    for task in [replaced, woken, refused] {
        assert_eq!(wait_for(task).unwrap(), 2);
    }
    worker_lives(&runtime, worker);
}

/// A payload whose drop panics with another such payload, this many times.
struct Chain(usize, Count);

impl Drop for Chain {
    fn drop(&mut self) {
        self.1.add();
        if let Some(left) = self.0.checked_sub(1) {
            resume_unwind(Box::new(Chain(left, self.1.clone())));
        }
    }
}

/// Spawns tasks that throw such chains of this many links.
fn throw_chains(lengths: std::ops::Range<usize>) {
    let runtime = lone_worker();
    let worker = worker_of(&runtime);
    for links in lengths {
        let (drops, gate) = (Count::new(), AsyncGate::new());
        let throwing = || {
            let (gate, drops) = (gate.clone(), drops.clone());
            async move {
                gate.wait().await;
                resume_unwind(Box::new(Chain(links, drops)))
            }
        };
        // Detached; with a drop that panics besides; and with a handle dropped at the end.
        drop::<windlass::task::JoinHandle<()>>(runtime.spawn(throwing()));
        drop::<windlass::task::JoinHandle<()>>(runtime.spawn(explosive(throwing())));
        let held: windlass::task::JoinHandle<()> = runtime.spawn(throwing());
        gate.open();
        wait_until("all end", || runtime.metrics().tasks_alive == 0);
        assert!(held.is_finished());
        drop(held);
        assert!(drops.get() >= 3);
        worker_lives(&runtime, worker);
    }
    assert!(runtime.shutdown(PATIENCE).is_clean());
}

#[test]
fn payloads_that_panic_on_drop_are_contained() {
    throw_chains(0..3);
}

/// The third payload in a row is leaked on purpose: leaks are not looked for in this process.
#[test]
fn payloads_that_go_on_panicking_are_given_up() {
    const NAME: &str = "payloads_that_go_on_panicking_are_given_up";
    if !util::is_child() {
        return util::passes_in_child(NAME, &[("ASAN_OPTIONS", "detect_leaks=0")]);
    }
    throw_chains(3..6);
}

#[test]
fn a_panic_in_a_blocking_closure_reaches_the_handle_and_spares_the_thread() {
    let runtime = windlass::Builder::new().workers(1).max_blocking(1).build().unwrap();
    let thread_of = || wait_for(runtime.spawn_blocking(|| thread::current().id())).unwrap();
    let before = thread_of();
    let result: Result<(), JoinError> = wait_for(runtime.spawn_blocking(|| throw("blocking")));
    assert_eq!(message(result), "blocking");
    let unused = runtime.spawn_blocking(|| ThrowOnDrop("in the output's drop"));
    wait_until("it ends", || unused.is_finished());
    drop(unused);
    assert_eq!(thread_of(), before);
}

#[test]
fn futures_that_panic_when_shutdown_drops_them_do_not_keep_it_from_being_clean() {
    let runtime = runtime(2);
    let polled = Count::new();
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let polled = polled.clone();
            let mut first = true;
            runtime.spawn(explosive(poll_fn(move |_| {
                if std::mem::replace(&mut first, false) {
                    polled.add();
                }
                Poll::<()>::Pending
            })))
        })
        .collect();
    polled.wait_for(100);
    assert!(runtime.shutdown(PATIENCE).is_clean());
    for task in tasks {
        assert!(wait_for(task).unwrap_err().is_panic());
    }
}

#[test]
fn a_panic_that_leaves_block_on_leaves_the_runtime_it_had_entered() {
    let runtime = runtime(1);
    let result =
        catch_unwind(AssertUnwindSafe(|| runtime.block_on(async { throw("in block_on") })));
    let result: Result<(), _> = result;
    assert_eq!(text_of(&*result.unwrap_err()), "in block_on");
    assert!(windlass::Handle::try_current().is_none());
    assert_eq!(runtime.block_on(async { 3 }), 3);
}
