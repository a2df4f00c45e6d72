//! What is inherited, and who is charged: over tasks, closures, computations and threads, and whatever is run on top.

mod util;

use std::future::{pending, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::time::{Duration, Instant};

use util::{AsyncGate, Gate, OnDrop, PATIENCE, runtime, wait_for, wait_until};
use windlass::task::{self, Account, JoinSet};

windlass::task_local! {
    /// Which request it is.
    inherited static REQUEST: usize;
    static OWN: usize;
    inherited static USER: String
}

/// Keeps the thread busy for at least this long.
fn burn(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[test]
fn values_are_inherited_by_all_that_is_started() {
    let runtime = runtime(3);
    let tasks: Vec<_> = (0..30)
        .map(|number| {
            runtime.spawn(REQUEST.scope(
                number,
                OWN.scope(number, async move {
                    windlass::yield_now().await;
                    let nested = windlass::spawn(async move {
                        windlass::yield_now().await;
                        assert!(OWN.try_get().is_err(), "this key is not inherited");
                        let deeper = windlass::spawn(async { REQUEST.get() });
                        assert_eq!(deeper.await.unwrap(), number);
                        REQUEST.get()
                    });
                    assert_eq!(nested.await.unwrap(), number);
                    let blocking = windlass::spawn_blocking(|| {
                        let inner = windlass::spawn(async { REQUEST.get() });
                        (REQUEST.get(), windlass::block_on(inner).unwrap())
                    });
                    assert_eq!(blocking.await.unwrap(), (number, number));
                    let computed = windlass::compute(|| {
                        let (a, b) = windlass::join(|| REQUEST.get(), || REQUEST.get());
                        assert_eq!(a, b);
                        windlass::spawn(async { REQUEST.get() })
                    });
                    assert_eq!(computed.await.unwrap().await.unwrap(), number);
                    let pinned = task::spawn_pinned(|| async { REQUEST.get() });
                    assert_eq!(pinned.await.unwrap(), number);
                    let mut set = JoinSet::new();
                    set.spawn(async { REQUEST.get() });
                    assert_eq!(set.join_next().await.unwrap().unwrap(), number);
                }),
            ))
        })
        .collect();
    tasks.into_iter().for_each(|task| wait_for(task).unwrap());
    assert!(wait_for(runtime.spawn(async { REQUEST.try_get().is_err() })).unwrap());
}

#[test]
fn inner_scopes_shadow_what_was_inherited() {
    let runtime = runtime(2);
    let text = |text: &str| text.to_owned();
    let task = runtime.spawn(USER.scope(
        text("ann"),
        REQUEST.scope(1, async {
            let inner = windlass::spawn(async {
                let both = || (USER.get(), REQUEST.get());
                let inner =
                    USER.sync_scope("bob".to_owned(), || windlass::spawn(async move { both() }));
                (inner.await.unwrap(), both())
            });
            inner.await.unwrap()
        }),
    ));
    assert_eq!(wait_for(task).unwrap(), ((text("bob"), 1), (text("ann"), 1)));
    let error = std::panic::catch_unwind(|| USER.get()).unwrap_err();
    assert!(util::text_of(&*error).contains("KEY.scope"));
}

/// The value goes when the last that has inherited it is gone, and the future's drop still sees it.
#[test]
fn values_live_as_long_as_what_has_inherited_them() {
    windlass::task_local! { inherited static HELD: OnDrop<Box<dyn Fn() + Send + Sync>>; }
    let runtime = runtime(2);
    let gone = Arc::new(AtomicBool::new(false));
    let (seen, gate, inner) = (gone.clone(), AsyncGate::new(), gone.clone());
    let wait = gate.clone();
    let value = OnDrop(Box::new(move || inner.store(true, SeqCst)) as Box<dyn Fn() + Send + Sync>);
    let task = HELD.sync_scope(value, || {
        runtime.spawn(async move {
            let _look = OnDrop(move || assert!(HELD.try_with(|_| ()).is_ok()));
            wait.wait().await;
        })
    });
    assert!(!seen.load(SeqCst));
    gate.open();
    wait_for(task).unwrap();
    wait_until("the value is dropped", || gone.load(SeqCst));
}

#[test]
fn a_request_is_charged_for_all_its_tasks() {
    let runtime = runtime(2);
    let account = Account::new();
    let other = Account::new();
    let time = Duration::from_millis(2);
    let request = account.sync_scope(|| {
        runtime.spawn(async move {
            burn(time);
            let children: Vec<_> = (0..3)
                .map(|_| {
                    windlass::spawn(async move {
                        windlass::yield_now().await;
                        burn(time);
                    })
                })
                .collect();
            for child in children {
                child.await.unwrap();
            }
            windlass::spawn_blocking(move || burn(time)).await.unwrap();
        })
    });
    let beside = other.sync_scope(|| runtime.spawn(async move { burn(time) }));
    wait_for(request).unwrap();
    wait_for(beside).unwrap();
    let cost = account.cost();
    assert_eq!(cost.tasks, 5);
    assert!(cost.busy >= time * 5, "{cost:?}");
    // The request is polled once at least, each child twice, and the closure is run once.
    assert!(cost.polls >= 8 && cost.wakeups >= 3, "{cost:?}");
    let cost = other.cost();
    assert_eq!((cost.tasks, cost.polls, cost.wakeups, cost.jobs), (1, 1, 0, 0));
    assert!(cost.busy >= time);
}

/// A request that sleeps has not used a CPU meanwhile.
#[test]
fn cpu_time_is_told_from_time_in_which_a_thread_sleeps() {
    let (account, plain) = (Account::with_cpu_time(), Account::new());
    let (part, without) = (account.child(), plain.clone());
    let (pause, work) = (Duration::from_millis(50), Duration::from_millis(20));
    let request = account.scope(async move {
        std::thread::sleep(pause);
        // Charged to another, which has no CPU clock.
        without.sync_scope(|| burn(work));
        part.scope(async move {
            windlass::yield_now().await;
            burn(work);
        })
        .await;
        part
    });
    let part = wait_for(runtime(2).spawn(request)).unwrap().cost();
    let whole = account.cost();
    let cpu = whole.cpu.expect("all systems of the tests tell");
    // The two clocks may drift apart a little, and Windows counts in ticks.
    let drift = Duration::from_millis(if cfg!(windows) { 20 } else { 5 });
    assert!(cpu <= whole.busy.saturating_sub(pause) + drift, "{whole:?}");
    assert!(part.cpu.unwrap() <= part.busy + drift && part.cpu.unwrap() <= cpu, "{part:?}");
    assert!(part.cpu > Some(Duration::ZERO) || cfg!(windows), "{part:?}");
    assert_eq!(plain.cost().cpu, None);
}

/// The two closures wait for each other, so that another worker runs the second.
#[test]
fn a_stolen_closure_is_charged_and_inherits() {
    let runtime = runtime(2);
    let account = Account::new();
    let scope = REQUEST.scope(
        7,
        account.scope(async {
            windlass::compute(|| {
                let (mine, stolen) = (Gate::new(), Gate::new());
                let (own, others) = windlass::join(
                    || {
                        stolen.wait();
                        mine.open();
                        std::thread::current().id()
                    },
                    || {
                        stolen.open();
                        mine.wait();
                        burn(Duration::from_millis(2));
                        assert_eq!(REQUEST.get(), 7);
                        assert!(Account::current().is_some());
                        let task = windlass::spawn(async { REQUEST.get() });
                        (std::thread::current().id(), task)
                    },
                );
                assert_ne!(own, others.0);
                others.1
            })
            .await
            .unwrap()
            .await
            .unwrap()
        }),
    );
    let task = runtime.spawn(scope);
    assert_eq!(wait_for(task).unwrap(), 7);
    let cost = account.cost();
    assert_eq!((cost.jobs, cost.tasks), (1, 2), "{cost:?}");
    assert!(cost.busy >= Duration::from_millis(2), "{cost:?}");
}

#[test]
fn jobs_of_a_scope_are_charged_and_inherit_wherever_they_run() {
    let runtime = runtime(3);
    let account = Account::new();
    let count = AtomicUsize::new(0);
    account.sync_scope(|| {
        REQUEST.sync_scope(5, || {
            runtime.handle().scope(|s| {
                for _ in 0..20 {
                    s.spawn(|s| {
                        count.fetch_add(REQUEST.get(), SeqCst);
                        s.spawn(|_| _ = count.fetch_add(REQUEST.get(), SeqCst));
                    });
                }
            });
        });
    });
    assert_eq!(count.load(SeqCst), 200);
    // The jobs, and the scope itself, which has gone to a worker.
    assert_eq!(account.cost().jobs, 41);
}

/// A computation is not charged for what is polled at its split points, nor does that see its values.
#[test]
fn what_is_polled_in_place_is_charged_to_nobody_else() {
    let runtime = windlass::Builder::new().workers(1).max_spares(0).build().unwrap();
    let (account, other) = (Account::new(), Account::new());
    let ran = Arc::new(AtomicUsize::new(0));
    let (begun, seen) = (Gate::new(), ran.clone());
    let began = begun.clone();
    let computation = account.sync_scope(|| {
        REQUEST.sync_scope(1, || {
            let _entered = runtime.handle().enter();
            windlass::compute(move || {
                began.open();
                let start = Instant::now();
                // Split points, until all of the others have run in place.
                while seen.load(SeqCst) < 2 {
                    assert!(start.elapsed() < PATIENCE, "nothing was polled in place");
                    windlass::join(|| burn(Duration::from_micros(20)), || ());
                }
                assert_eq!(REQUEST.get(), 1);
                Account::current().is_some()
            })
        })
    });
    begun.wait();
    let plain = runtime.spawn({
        let ran = ran.clone();
        async move {
            assert!(REQUEST.try_get().is_err() && Account::current().is_none());
            ran.fetch_add(1, SeqCst);
        }
    });
    let charged = other.sync_scope(|| {
        let ran = ran.clone();
        runtime.spawn(async move {
            burn(Duration::from_millis(1));
            ran.fetch_add(1, SeqCst);
        })
    });
    assert!(wait_for(computation).unwrap(), "the account is in force again");
    wait_for(plain).unwrap();
    wait_for(charged).unwrap();
    let (mine, theirs) = (account.cost(), other.cost());
    assert_eq!((mine.tasks, mine.polls), (1, 1), "{mine:?}");
    assert_eq!((theirs.tasks, theirs.polls), (1, 1), "{theirs:?}");
    assert!(theirs.busy >= Duration::from_millis(1));
}

#[test]
fn a_panic_and_an_abort_are_charged_and_leave_nothing_in_force() {
    let runtime = runtime(1);
    let account = Account::new();
    let panicked = account.sync_scope(|| {
        runtime.spawn(async {
            burn(Duration::from_millis(1));
            util::throw("in a task")
        })
    });
    assert!(wait_for(panicked).unwrap_err().is_panic());
    let polled = Gate::new();
    let told = polled.clone();
    let aborted = account.sync_scope(|| {
        runtime.spawn(async move {
            let _look = OnDrop(|| assert!(Account::current().is_some()));
            told.open();
            pending::<()>().await;
        })
    });
    polled.wait();
    aborted.abort();
    assert!(wait_for(aborted).unwrap_err().is_cancelled());
    let job = account.sync_scope(|| {
        let joined = || runtime.handle().join(|| (), || util::throw("in a job"));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(joined))
    });
    assert!(job.is_err());
    let caught = std::panic::catch_unwind(|| account.sync_scope(|| util::throw("in the scope")));
    assert!(caught.is_err() && Account::current().is_none());
    let plain = runtime.spawn(async { Account::current().is_none() });
    assert!(wait_for(plain).unwrap());
    let cost = account.cost();
    assert_eq!((cost.tasks, cost.polls), (2, 2), "{cost:?}");
    assert!(cost.busy >= Duration::from_millis(1));
}

#[test]
fn a_child_is_charged_to_its_parent_and_a_stranger_is_not() {
    let (parent, stranger) = (Account::new(), Account::new());
    let child = parent.child();
    let time = Duration::from_millis(1);
    let start = Instant::now();
    parent.sync_scope(|| {
        child.sync_scope(|| burn(time));
        stranger.sync_scope(|| burn(time));
    });
    assert!(child.cost().busy >= time && parent.cost().busy >= child.cost().busy);
    assert!(stranger.cost().busy >= time);
    // Time is charged to the innermost, and not to the one around it too.
    assert!(parent.cost().busy + stranger.cost().busy <= start.elapsed());
}

/// A scope within a scope of the same account is a part of it, and nothing is charged twice.
#[test]
fn nothing_is_charged_twice() {
    let account = Account::new();
    let start = Instant::now();
    let inner = account.clone();
    wait_for(account.scope(async move {
        let mut polls = 0;
        let twice = poll_fn(move |cx| {
            polls += 1;
            cx.waker().wake_by_ref();
            if polls < 3 { Poll::Pending } else { Poll::Ready(()) }
        });
        inner.scope(async { burn(Duration::from_millis(1)) }).await;
        inner.scope(twice).await;
    }));
    let cost = account.cost();
    assert_eq!(cost.polls, 3, "{cost:?}");
    assert!(cost.busy <= start.elapsed(), "{cost:?}");
}

/// What a job has inherited is dropped with it, and that may panic: the panic is the job's, and the
/// scope waits for all of its jobs.
#[test]
fn an_inherited_value_that_panics_when_it_is_dropped_ends_its_job_alone() {
    struct PanicsOnDrop;
    impl Drop for PanicsOnDrop {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    windlass::task_local! { inherited static BAD: PanicsOnDrop }
    let runtime = runtime(2);
    let done = Arc::new(AtomicUsize::new(0));
    let inner = done.clone();
    let task = runtime.spawn(async move {
        windlass::scope(|scope| {
            for _ in 0..10 {
                let done = &inner;
                scope.spawn(move |_| {
                    burn(Duration::from_micros(100));
                    done.fetch_add(1, SeqCst);
                });
            }
            // The job has the last reference, unless it is faster than this.
            BAD.sync_scope(PanicsOnDrop, || scope.spawn(|_| ()));
        });
    });
    assert!(wait_for(task).unwrap_err().is_panic());
    assert_eq!(done.load(SeqCst), 10, "all others are waited for");
}
