//! `JoinSet`: results in the order in which tasks end, and what happens to those left behind.

mod util;

use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use util::{AsyncGate, Count, PATIENCE, runtime, text_of, throw, wait_for, wait_until};
use windlass::Builder;
use windlass::observe::{TaskState, WaitsFor};
use windlass::task::JoinSet;

#[test]
fn tasks_are_joined_in_the_order_in_which_they_end() {
    let runtime = runtime(2);
    let gates: Vec<AsyncGate> = (0..5).map(|_| AsyncGate::new()).collect();
    let mut set = JoinSet::new();
    assert!(set.is_empty());
    for (number, gate) in gates.iter().enumerate() {
        let gate = gate.clone();
        set.spawn_on(
            async move {
                gate.wait().await;
                number
            },
            runtime.handle(),
        );
    }
    assert_eq!(set.len(), 5);
    for number in [3, 0, 4, 1, 2] {
        assert!(set.try_join_next().is_none());
        gates[number].open();
        assert_eq!(wait_for(set.join_next()).unwrap().unwrap(), number);
    }
    assert!(wait_for(set.join_next()).is_none());
    assert!(set.is_empty());
}

#[test]
fn places_are_used_again_and_ids_belong_to_their_results() {
    let runtime = runtime(2);
    let mut set = JoinSet::new();
    let mut expected = std::collections::HashMap::new();
    for round in 0..200 {
        for number in 0..10 {
            let id = set.spawn_on(async move { round * 10 + number }, runtime.handle()).id();
            expected.insert(id, round * 10 + number);
        }
        for _ in 0..if round == 199 { 10 + 199 * 2 } else { 8 } {
            let (id, output) = wait_for(set.join_next_with_id()).unwrap().unwrap();
            assert_eq!(expected.remove(&id), Some(output));
        }
    }
    assert!(set.is_empty() && expected.is_empty());
}

#[test]
fn dropping_the_set_aborts_its_tasks_and_detaching_lets_them_go_on() {
    let runtime = runtime(2);
    let (gate, dropped, ended) = (AsyncGate::new(), Count::new(), Count::new());
    let spawn = |set: &mut JoinSet<()>| {
        let (gate, guard, ended) = (gate.clone(), dropped.on_drop(), ended.clone());
        set.spawn_on(
            async move {
                let _guard = guard;
                gate.wait().await;
                ended.add();
            },
            runtime.handle(),
        );
    };
    let mut set = JoinSet::new();
    (0..10).for_each(|_| spawn(&mut set));
    wait_until("all wait", || gate.waiting() == 10);
    drop(set);
    dropped.wait_for(10);
    assert_eq!(ended.get(), 0);

    let mut set = JoinSet::new();
    (0..10).for_each(|_| spawn(&mut set));
    set.detach_all();
    assert!(set.is_empty());
    spawn(&mut set);
    gate.open();
    wait_for(set.join_next()).unwrap().unwrap();
    assert!(wait_for(set.join_next()).is_none());
    drop(set);
    ended.wait_for(11);
}

#[test]
fn abort_all_reports_each_task_and_shutdown_waits_for_them() {
    let runtime = runtime(2);
    let dropped = Count::new();
    let mut set = JoinSet::new();
    let spawn = |set: &mut JoinSet<()>| {
        let guard = dropped.on_drop();
        set.spawn_on(
            async move {
                let _guard = guard;
                pending::<()>().await;
            },
            runtime.handle(),
        )
    };
    (0..10).for_each(|_| drop(spawn(&mut set)));
    set.abort_all();
    for _ in 0..10 {
        let result = wait_for(set.join_next()).unwrap();
        assert!(result.unwrap_err().is_cancelled());
    }
    assert_eq!(dropped.get(), 10);

    (0..10).for_each(|_| drop(spawn(&mut set)));
    wait_for(set.shutdown());
    assert!(set.is_empty());
    assert_eq!(dropped.get(), 20);

    let one = spawn(&mut set);
    one.abort();
    let result = wait_for(set.join_next()).unwrap();
    assert_eq!(result.unwrap_err().id(), one.id());
}

#[test]
fn join_all_gives_every_output_or_the_first_panic() {
    let runtime = runtime(2);
    let mut squares = runtime.block_on(async {
        (0..100)
            .map(|number| async move { number * number })
            .collect::<JoinSet<_>>()
            .join_all()
            .await
    });
    squares.sort_unstable();
    assert!(squares.iter().copied().eq((0..100).map(|n| n * n)));

    let dropped = Count::new();
    let mut set = JoinSet::new();
    let guard = dropped.on_drop();
    set.spawn_on(
        async move {
            let _guard = guard;
            pending::<()>().await;
        },
        runtime.handle(),
    );
    set.spawn_on(async { throw("one of many") }, runtime.handle());
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| wait_for(set.join_all())));
    assert_eq!(text_of(&*result.unwrap_err()), "one of many");
    dropped.wait_for(1);
}

#[test]
fn a_set_holds_blocking_closures_too() {
    let runtime = runtime(1);
    let sum: u32 = runtime.block_on(async {
        let mut set = JoinSet::new();
        for number in 0..20 {
            set.spawn_blocking(move || number);
            set.spawn(async move { number });
        }
        set.join_all().await.into_iter().sum()
    });
    assert_eq!(sum, 380);
}

#[test]
fn giving_up_join_next_takes_nothing_out_of_the_set() {
    let runtime = runtime(1);
    let gate = AsyncGate::new();
    let mut set = JoinSet::new();
    let inner = gate.clone();
    set.spawn_on(async move { inner.wait().await }, runtime.handle());
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..10 {
        assert!(set.poll_join_next(&mut context).is_pending());
    }
    gate.open();
    wait_for(set.join_next()).unwrap().unwrap();
    assert!(set.is_empty());
}

/// A task of one worker takes results that are all there; others must get their turn meanwhile.
#[test]
fn taking_results_that_are_all_there_lets_others_run() {
    const TASKS: usize = 2_000;
    let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
    let taken = runtime.spawn(async {
        let mut set = JoinSet::new();
        for _ in 0..TASKS {
            set.spawn(async {});
        }
        while set.try_join_next().is_none() {
            windlass::yield_now().await;
        }
        for _ in 0..10 {
            windlass::yield_now().await;
        }
        let turns = Count::new();
        let other = turns.clone();
        let other = windlass::spawn(async move {
            loop {
                other.add();
                windlass::yield_now().await;
            }
        });
        while set.join_next().await.is_some() {}
        other.abort();
        turns.get()
    });
    assert!(wait_for(taken).unwrap() > 5);
}

/// A waiter that panics while a finished task is put into the set.
struct ThrowOnWake;

impl Wake for ThrowOnWake {
    fn wake(self: Arc<Self>) {
        throw("in a waker");
    }
}

#[test]
fn a_waiter_that_panics_does_not_break_the_set() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    let mut set = JoinSet::new();
    set.spawn_on(pending::<()>(), &handle);
    let waker = Waker::from(Arc::new(ThrowOnWake));
    let mut context = Context::from_waker(&waker);
    assert!(set.poll_join_next(&mut context).is_pending());
    assert!(runtime.shutdown(PATIENCE).is_clean());
    assert!(set.poll_join_next(&mut context).is_ready());

    // What is spawned now is cancelled at once: its end is known before it is in the set.
    set.spawn_on(async {}, &handle);
    let result = wait_for(set.join_next()).unwrap();
    assert!(result.unwrap_err().is_cancelled());
}

#[test]
fn spawning_into_a_set_whose_waiter_panics_keeps_the_set_whole() {
    let (alive, ended) = (runtime(1), runtime(1));
    let gone = ended.handle().clone();
    assert!(ended.shutdown(PATIENCE).is_clean());
    let mut set = JoinSet::new();
    set.spawn_on(pending::<()>(), alive.handle());
    let waker = Waker::from(Arc::new(ThrowOnWake));
    let mut context = Context::from_waker(&waker);
    assert!(set.poll_join_next(&mut context).is_pending());

    let spawn = std::panic::catch_unwind(AssertUnwindSafe(|| {
        set.spawn_on(async {}, &gone);
    }));
    drop(spawn);
    set.abort_all();
    let mut joined = 0;
    while wait_for(set.join_next()).is_some() {
        joined += 1;
    }
    assert_eq!(joined, 2);
}

/// What the last of many waits for was looked for among the places of all.
#[test]
fn the_last_of_many_is_named_as_what_is_waited_for() {
    let runtime = runtime(1);
    let (sender, ids) = std::sync::mpsc::channel();
    let waiter = runtime.spawn(async move {
        let mut set = JoinSet::new();
        let mut last = None;
        for round in 0..3 {
            for number in 0..10 {
                let task = set.spawn(async move {
                    if (round, number) == (1, 4) {
                        pending::<()>().await;
                    }
                });
                if (round, number) == (1, 4) {
                    last = Some(task.id());
                }
            }
            while set.len() > usize::from(round > 0) {
                set.join_next().await.unwrap().unwrap();
            }
        }
        sender.send(last.unwrap()).unwrap();
        set.join_next().await;
    });
    let last = ids.recv_timeout(PATIENCE).unwrap();
    wait_until("the last is named", || {
        let task = runtime.handle().tasks().into_iter().find(|task| task.id == waiter.id());
        task.is_some_and(|task| {
            task.state == TaskState::Idle && task.waits_for == WaitsFor::Join(last)
        })
    });
}
