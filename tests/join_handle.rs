//! `JoinHandle` and `JoinError`: what awaiting and dropping do, and that every output is dropped
//! exactly once. Aborting is tested in `abort.rs`.

mod util;

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use util::{AsyncGate, Count, poll_once, runtime, throw, wait_for, wait_until};
use windlass::task::{JoinError, JoinHandle};

#[test]
fn dropping_the_handle_lets_the_task_go_on() {
    let runtime = runtime(1);
    let (gate, ended) = (AsyncGate::new(), Count::new());
    let task = {
        let (gate, ended) = (gate.clone(), ended.clone());
        runtime.spawn(async move {
            gate.wait().await;
            ended.add();
        })
    };
    drop(task);
    gate.open();
    ended.wait_for(1);
}

#[test]
fn an_output_is_dropped_once_by_whoever_has_it_last() {
    let runtime = runtime(2);
    let (futures, outputs) = (Count::new(), Count::new());
    let spawn = |gate: &AsyncGate| {
        let (gate, in_future, output) = (gate.clone(), futures.on_drop(), outputs.on_drop());
        runtime.spawn(async move {
            gate.wait().await;
            drop(in_future);
            output
        })
    };
    let open = AsyncGate::new();
    open.open();

    let joined = wait_for(spawn(&open)).unwrap();
    assert_eq!((futures.get(), outputs.get()), (1, 0));
    drop(joined);
    assert_eq!(outputs.get(), 1);

    let finished = spawn(&open);
    wait_until("the task ends", || finished.is_finished());
    assert_eq!(outputs.get(), 1);
    drop(finished);
    assert_eq!((futures.get(), outputs.get()), (2, 2));

    let later = AsyncGate::new();
    drop(spawn(&later));
    later.open();
    outputs.wait_for(3);

    let aborted = spawn(&AsyncGate::new());
    aborted.abort();
    assert!(wait_for(aborted).unwrap_err().is_cancelled());
    assert_eq!((futures.get(), outputs.get()), (4, 4));

    drop(runtime);
    assert_eq!((futures.get(), outputs.get()), (4, 4));
}

#[test]
fn dropping_the_handle_races_with_completion() {
    let runtime = runtime(2);
    let outputs = Count::new();
    for round in 0..3_000 {
        let (gate, output) = (AsyncGate::new(), outputs.on_drop());
        let mut task = {
            let gate = gate.clone();
            runtime.spawn(async move {
                gate.wait().await;
                output
            })
        };
        // With and without a waker of the joiner's in its place.
        if round % 2 == 0 {
            let _ = poll_once(&mut task);
        }
        gate.open();
        for _ in 0..round % 64 {
            std::hint::spin_loop();
        }
        drop(task);
    }
    outputs.wait_for(3_000);
    drop(runtime);
    assert_eq!(outputs.get(), 3_000);
}

/// A joiner's waker that counts its wake-ups.
struct CountWakes(Count);

impl Wake for CountWakes {
    fn wake(self: Arc<Self>) {
        self.0.add();
    }
}

#[test]
fn only_the_last_waker_of_the_joiner_is_woken_and_none_is_kept() {
    let runtime = runtime(1);
    let gate = AsyncGate::new();
    let mut task = {
        let gate = gate.clone();
        runtime.spawn(async move { gate.wait().await })
    };
    let counts: Vec<Count> = (0..3).map(|_| Count::new()).collect();
    let wakers: Vec<Arc<CountWakes>> =
        counts.iter().map(|count| Arc::new(CountWakes(count.clone()))).collect();
    for waker in [0, 0, 1, 2, 2].map(|index| Waker::from(wakers[index].clone())) {
        let mut context = Context::from_waker(&waker);
        assert!(Pin::new(&mut task).poll(&mut context).is_pending());
    }
    gate.open();
    counts[2].wait_for(1);
    assert_eq!(counts.iter().map(Count::get).collect::<Vec<_>>(), [0, 0, 1]);
    wait_for(task).unwrap();
    wait_until("every waker is given back", || {
        wakers.iter().all(|waker| Arc::strong_count(waker) == 1)
    });

    // A handle that is dropped gives its waker back, too.
    let mut task = runtime.spawn(pending::<()>());
    let waker = Waker::from(wakers[0].clone());
    let mut context = Context::from_waker(&waker);
    assert!(Pin::new(&mut task).poll(&mut context).is_pending());
    drop((task, waker));
    assert_eq!(Arc::strong_count(&wakers[0]), 1);
}

#[test]
fn a_thousand_pending_handles_are_joined_without_running_in_circles() {
    const TASKS: usize = 1_000;
    let runtime = runtime(1);
    let gate = AsyncGate::new();
    let mut tasks: Vec<Option<JoinHandle<()>>> = (0..TASKS)
        .map(|_| {
            let gate = gate.clone();
            Some(runtime.spawn(async move { gate.wait().await }))
        })
        .collect();
    wait_until("all wait", || gate.waiting() == TASKS);
    let polls = Count::new();
    let joiner = {
        let polls = polls.clone();
        runtime.spawn(poll_fn(move |cx| {
            polls.add();
            for place in &mut tasks {
                if let Some(task) = place {
                    if Pin::new(task).poll(cx).is_ready() {
                        *place = None;
                    }
                }
            }
            if tasks.iter().all(Option::is_none) { Poll::Ready(()) } else { Poll::Pending }
        }))
    };
    polls.wait_for(1);
    for _ in 0..3 {
        wait_for(runtime.spawn(windlass::yield_now())).unwrap();
    }
    assert_eq!(polls.get(), 1, "pending handles cost no budget");
    gate.open();
    wait_for(joiner).unwrap();
    assert!(polls.get() <= TASKS + 2);
}

#[test]
fn awaiting_through_a_reference_can_be_given_up_and_taken_up_again() {
    let runtime = runtime(1);
    let gate = AsyncGate::new();
    let mut task = {
        let gate = gate.clone();
        runtime.spawn(async move {
            gate.wait().await;
            3
        })
    };
    for _ in 0..10 {
        assert!(poll_once(&mut task).is_pending());
    }
    gate.open();
    assert_eq!(wait_for(&mut task).unwrap(), 3);
    assert!(task.is_finished());
}

#[test]
fn polling_a_handle_after_its_output_panics() {
    let runtime = runtime(1);
    let mut task = runtime.spawn(async {});
    wait_for(&mut task).unwrap();
    let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll_once(&mut task)));
    assert!(util::text_of(&*again.unwrap_err()).contains("after it had returned its output"));
}

#[test]
fn a_handle_is_awaited_by_threads_tasks_and_other_runtimes() {
    let (a, b) = (runtime(1), runtime(1));
    let task = a.spawn(async { 1 });
    let task = b.spawn(async move { task.await.unwrap() + 1 });
    let task = a.spawn(async move { task.await.unwrap() + 1 });
    let sum = thread::spawn(move || wait_for(task).unwrap() + 1);
    assert_eq!(sum.join().unwrap(), 4);
}

#[test]
fn a_join_error_tells_what_happened() {
    let runtime = runtime(1);
    let task = runtime.spawn(pending::<()>());
    let id = task.id();
    task.abort();
    let cancelled = wait_for(task).unwrap_err();
    assert!(cancelled.is_cancelled() && !cancelled.is_panic());
    assert_eq!(cancelled.id(), id);
    assert_eq!(cancelled.to_string(), format!("task {id} was cancelled"));
    assert_eq!(format!("{cancelled:?}"), format!("JoinError::Cancelled({id})"));
    let cancelled = cancelled.try_into_panic().unwrap_err();
    let refused = std::panic::catch_unwind(|| cancelled.into_panic());
    assert!(util::text_of(&*refused.unwrap_err()).contains("check is_panic() first"));

    let task = runtime.spawn(async { throw("boo") });
    let id = task.id();
    let result: Result<(), JoinError> = wait_for(task);
    let panicked = result.unwrap_err();
    assert!(panicked.is_panic() && !panicked.is_cancelled());
    assert_eq!(panicked.to_string(), format!("task {id} panicked: boo"));
    assert_eq!(format!("{panicked:?}"), format!("JoinError::Panic({id}, \"boo\")"));
    assert_eq!(util::text_of(&*panicked.into_panic()), "boo");

    let task = runtime.spawn(async { std::panic::resume_unwind(Box::new(17_u8)) });
    let id = task.id();
    let result: Result<(), JoinError> = wait_for(task);
    let panicked = result.unwrap_err();
    assert_eq!(panicked.to_string(), format!("task {id} panicked"));
    let error = std::io::Error::from(panicked);
    assert_eq!(error.kind(), std::io::ErrorKind::Other);
    let inner = error.into_inner().unwrap().downcast::<JoinError>().unwrap();
    assert_eq!(*inner.into_panic().downcast::<u8>().unwrap(), 17);
}

/// Compiling is half of the test.
#[deny(unused_must_use)]
#[test]
fn a_handle_may_be_dropped_without_a_word() {
    let runtime = runtime(1);
    let ran = Count::new();
    let (spawned, blocked, named) = (ran.clone(), ran.clone(), ran.clone());
    runtime.spawn(async move { spawned.add() });
    runtime.spawn_blocking(move || blocked.add());
    let _entered = runtime.enter();
    windlass::task::Builder::new().name("detached").spawn(async move { named.add() });
    ran.wait_for(3);
}
