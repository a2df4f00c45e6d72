//! Task-local values and the current task's id: right on whatever thread a task is polled, and
//! whatever is run on top of it.

mod util;

use std::future::pending;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use util::{AsyncGate, Count, Gate, OnDrop, PATIENCE, poll_once, runtime, wait_for};
use windlass::task::{self, AbortHandle, LocalKey};

windlass::task_local! {
    /// Which task it is.
    static NUMBER: usize;
    static TEXT: String
}

#[test]
fn a_value_follows_its_task_over_threads_and_reaches_no_other() {
    let runtime = runtime(3);
    let tasks: Vec<_> = (0..50)
        .map(|number| {
            runtime.spawn(NUMBER.scope(number, async move {
                for _ in 0..20 {
                    assert_eq!(NUMBER.get(), number);
                    windlass::resume_on_pool().await.unwrap();
                    let spawned = windlass::spawn(async { NUMBER.try_get().is_err() });
                    assert!(spawned.await.unwrap(), "a task does not inherit a value");
                }
            }))
        })
        .collect();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
}

#[test]
fn inner_scopes_shadow_outer_ones_until_their_end() {
    let text = |text: &str| text.to_owned();
    wait_for(TEXT.scope(text("outer"), async {
        let inner = async {
            windlass::yield_now().await;
            (TEXT.get(), NUMBER.try_get().unwrap())
        };
        let inner = NUMBER.scope(1, TEXT.scope(text("inner"), inner));
        assert_eq!(inner.await, (text("inner"), 1));
        assert_eq!(TEXT.get(), "outer");
        assert!(NUMBER.try_with(|_| ()).is_err());
        assert_eq!(TEXT.sync_scope(text("sync"), || TEXT.get()), "sync");
        assert_eq!(TEXT.with(String::len), 5);
    }));
    assert!(TEXT.try_get().is_err());
}

#[test]
fn a_scope_that_is_not_being_polled_is_not_there() {
    let mut scope = pin!(NUMBER.scope(1, pending::<()>()));
    assert!(poll_once(&mut scope).is_pending());
    assert!(NUMBER.try_get().is_err());
    assert_eq!(scope.as_mut().take_value(), Some(1));
    assert_eq!(scope.take_value(), None);
}

#[test]
fn a_panic_leaves_the_scope() {
    let caught = std::panic::catch_unwind(|| NUMBER.sync_scope(1, || util::throw("inside")));
    assert!(caught.is_err());
    assert!(NUMBER.try_get().is_err());
    let error = std::panic::catch_unwind(|| NUMBER.get()).unwrap_err();
    assert!(util::text_of(&*error).contains("KEY.scope"));
}

#[test]
fn a_future_that_is_dropped_still_sees_its_value() {
    let seen = Count::new();
    let look = {
        let seen = seen.clone();
        OnDrop(move || {
            for _ in 0..NUMBER.get() {
                seen.add();
            }
        })
    };
    let mut scope = Box::pin(NUMBER.scope(3, async move {
        let _look = look;
        pending::<()>().await;
    }));
    assert!(poll_once(&mut scope).is_pending());
    drop(scope);
    assert_eq!(seen.get(), 3);
}

#[test]
fn block_on_sees_what_is_around_it() {
    assert_eq!(NUMBER.sync_scope(4, || windlass::block_on(async { NUMBER.get() })), 4);
}

/// Keys are told apart by their address, and the type of a value is never mistaken.
#[test]
fn keys_that_are_no_statics_are_never_mistaken_for_keys_of_another_type() {
    const A: LocalKey<u64> = LocalKey::new();
    const B: LocalKey<String> = LocalKey::new();
    fn a() -> &'static LocalKey<u64> {
        const { &A }
    }
    fn b() -> &'static LocalKey<String> {
        const { &B }
    }
    a().sync_scope(1, || assert!(b().try_with(String::len).is_err()));
}

/// A task that is polled at a split point saw the values, and the id, of the task whose computation it interrupts.
#[test]
fn a_task_polled_in_place_and_the_computation_around_it_do_not_see_each_other() {
    let runtime = windlass::Builder::new().workers(1).max_spares(0).build().unwrap();
    let (done, wrong) = (Arc::new(AtomicBool::new(false)), Count::new());
    let computing = runtime.spawn(NUMBER.scope(1, {
        let (done, wrong) = (done.clone(), wrong.clone());
        async move {
            let id = task::id();
            let beside = {
                let (done, wrong) = (done.clone(), wrong.clone());
                async move {
                    if NUMBER.try_get().is_ok() || task::id() == id {
                        wrong.add();
                    }
                    NUMBER.sync_scope(2, || done.store(NUMBER.get() == 2, SeqCst));
                }
            };
            drop(windlass::spawn(beside));
            // Splits until the task beside has run, which only this worker can do.
            let start = Instant::now();
            while !done.load(SeqCst) && start.elapsed() < PATIENCE {
                windlass::join(|| (), || ());
                if NUMBER.get() != 1 || task::id() != id {
                    wrong.add();
                }
            }
        }
    }));
    wait_for(computing).unwrap();
    assert!(done.load(SeqCst), "the task was polled in place");
    assert_eq!(wrong.get(), 0);
}

/// So did the jobs that a joiner runs while it waits for its own.
#[test]
fn the_jobs_a_joiner_runs_for_others_see_neither_its_values_nor_its_id() {
    let runtime = runtime(2);
    let (began, seen) = (Gate::new(), Gate::new());
    let wrong = Count::new();
    let joiner = runtime.spawn(NUMBER.scope(1, {
        let wrong = wrong.clone();
        async move {
            let id = task::id();
            let other = || {
                // The other worker is here. Its next job can only be run by the one that waits for it.
                began.open();
                let look = || {
                    if NUMBER.try_get().is_ok() || task::try_id() == Some(id) {
                        wrong.add();
                    }
                    seen.open();
                };
                windlass::join(|| seen.wait(), look);
            };
            windlass::join(|| began.wait(), other);
            assert_eq!((NUMBER.get(), task::id()), (1, id));
        }
    }));
    wait_for(joiner).unwrap();
    assert_eq!(wrong.get(), 0);
}

#[test]
fn the_id_is_that_of_the_innermost_task() {
    let runtime = runtime(1);
    assert_eq!(task::try_id(), None);
    assert_eq!(runtime.block_on(async { task::try_id() }), None);
    let blocking = runtime.spawn_blocking(task::id);
    let id = blocking.id();
    assert_eq!(wait_for(blocking).unwrap(), id);
    let outer = runtime.spawn(async {
        let inner = windlass::spawn(async { task::id() });
        let expected = inner.id();
        assert_eq!(inner.await.unwrap(), expected);
        windlass::yield_now().await;
        task::id()
    });
    let id = outer.id();
    assert_eq!(wait_for(outer).unwrap(), id);
    assert!(std::panic::catch_unwind(task::id).is_err());
}

#[test]
fn without_constraint_nothing_is_made_to_yield() {
    let runtime = runtime(1);
    let spent = runtime.spawn(async {
        let mut items = 0;
        while task::has_budget_remaining() {
            task::consume_budget().await;
            items += 1;
            assert!(items < 10_000, "a budget has an end");
        }
        task::unconstrained(async {
            for _ in 0..10_000 {
                assert!(task::has_budget_remaining());
                let mut consume = pin!(task::consume_budget());
                assert!(poll_once(&mut consume).is_ready());
            }
        })
        .await;
        !task::has_budget_remaining()
    });
    assert!(wait_for(spent).unwrap());
    assert!(task::has_budget_remaining());
}

/// What a task had inherited stayed as long as anything named the task: here a handle, and the waker that the timers
/// keep for the next time.
#[test]
fn what_a_task_has_inherited_goes_when_the_task_ends() {
    windlass::task_local! { inherited static HELD: Arc<()>; }
    let runtime = runtime(1);
    let value = Arc::new(());
    let gate = AsyncGate::new();
    let wait = gate.clone();
    let task = HELD.sync_scope(value.clone(), || {
        runtime.spawn(async move {
            let wait = windlass::timer::timeout(Duration::from_secs(3600), wait.wait());
            wait.await.unwrap();
        })
    });
    let handle = task.abort_handle();
    assert_eq!(Arc::strong_count(&value), 2);
    gate.open();
    wait_for(task).unwrap();
    assert_eq!(Arc::strong_count(&value), 1);
    assert!(handle.is_finished());

    let aborted = HELD.sync_scope(value.clone(), || runtime.spawn(pending::<()>()));
    let handle = aborted.abort_handle();
    handle.abort();
    assert!(wait_for(aborted).unwrap_err().is_cancelled());
    assert_eq!(Arc::strong_count(&value), 1);
}

/// A request that knew its tasks was never freed, because they knew it.
#[test]
fn an_inherited_value_may_hold_handles_to_the_tasks_that_inherit_it() {
    windlass::task_local! { inherited static TASKS: Arc<Mutex<Vec<AbortHandle>>>; }
    let runtime = runtime(2);
    let tasks = Arc::default();
    let request = TASKS.scope(Arc::clone(&tasks), async {
        let child = windlass::spawn(async {});
        TASKS.with(|tasks| tasks.lock().unwrap().push(child.abort_handle()));
        child.await.unwrap();
    });
    wait_for(runtime.spawn(request)).unwrap();
    assert_eq!(tasks.lock().unwrap().len(), 1);
    assert_eq!(Arc::strong_count(&tasks), 1, "dropping it would drop the handle, too");
}
