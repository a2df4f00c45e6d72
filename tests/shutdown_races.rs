//! Shutdown against everything that may happen at the same moment, many times over.

mod util;

use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use util::{Count, Gate, OpenOnDrop, PATIENCE, runtime, wait_for, wait_until, within_patience};
use windlass::{Builder, Handle, Runtime};

/// Shuts a runtime down while this many threads use its handle as they are told.
fn race(
    runtime: Runtime,
    threads: usize,
    delay: u32,
    act: impl Fn(&Handle) + Send + Sync + 'static,
) {
    let (go, act) = (Gate::new(), Arc::new(act));
    let racing: Vec<_> = (0..threads)
        .map(|_| {
            let (go, act, handle) = (go.clone(), act.clone(), runtime.handle().clone());
            thread::spawn(move || {
                go.wait();
                act(&handle);
            })
        })
        .collect();
    go.open();
    for _ in 0..delay {
        std::hint::spin_loop();
    }
    let report = within_patience("shutdown", move || runtime.shutdown(PATIENCE));
    assert!(report.is_clean(), "{report}");
    for thread in racing {
        thread.join().unwrap();
    }
}

#[test]
fn spawns_from_four_threads_run_or_are_cancelled_and_nothing_hangs() {
    for round in 0..500 {
        let (dropped, spawned) = (Count::new(), Count::new());
        {
            let (dropped, spawned) = (dropped.clone(), spawned.clone());
            race(runtime(2), 4, round % 50 * 200, move |handle| {
                for _ in 0..20 {
                    let guard = dropped.on_drop();
                    spawned.add();
                    match wait_for(handle.spawn(async move { drop(guard) })) {
                        Ok(()) => {}
                        Err(error) => assert!(error.is_cancelled()),
                    }
                }
            });
        }
        assert_eq!(dropped.get(), spawned.get());
    }
}

/// With a thousand places for spares there are as many lists to close: the moment between the
/// first and the last is long enough to be met.
#[test]
fn a_spawn_in_the_middle_of_closing_is_not_forgotten() {
    for round in 0..300 {
        let runtime = Builder::new().workers(2).max_spares(1_000).build().unwrap();
        let dropped = Count::new();
        let inner = dropped.clone();
        race(runtime, 2, round % 30 * 100, move |handle| {
            loop {
                let guard = inner.on_drop();
                if wait_for(handle.spawn(async move { drop(guard) })).is_err() {
                    break;
                }
            }
        });
        assert!(dropped.get() >= 2);
    }
}

#[test]
fn detached_spawns_are_all_dropped() {
    for round in 0..300 {
        let (dropped, spawned) = (Count::new(), Count::new());
        {
            let (dropped, spawned) = (dropped.clone(), spawned.clone());
            race(runtime(2), 3, round % 50 * 200, move |handle| {
                for number in 0..50 {
                    let guard = dropped.on_drop();
                    spawned.add();
                    drop(handle.spawn(async move {
                        let _guard = guard;
                        if number % 2 == 0 {
                            pending::<()>().await;
                        }
                    }));
                }
            });
        }
        // Those that came too late were dropped by their spawner, the others before the end.
        assert_eq!(dropped.get(), spawned.get());
    }
}

#[test]
fn wakes_from_threads_race_with_the_end_of_the_runtime() {
    for round in 0..300 {
        let runtime = runtime(2);
        let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
        let dropped = Count::new();
        for _ in 0..20 {
            let (wakers, guard) = (wakers.clone(), dropped.on_drop());
            let mut registered = false;
            drop(runtime.spawn(poll_fn(move |cx| {
                let _guard = &guard;
                if !std::mem::replace(&mut registered, true) {
                    wakers.lock().unwrap().push(cx.waker().clone());
                }
                Poll::<()>::Pending
            })));
        }
        util::wait_until("all have left a waker", || wakers.lock().unwrap().len() == 20);
        race(runtime, 3, round % 50 * 200, move |_| {
            let own: Vec<Waker> = wakers.lock().unwrap().clone();
            for waker in &own {
                waker.wake_by_ref();
            }
            for waker in own {
                waker.wake();
            }
        });
        assert_eq!(dropped.get(), 20);
    }
}

#[test]
fn aborts_and_handle_drops_race_with_the_end_of_the_runtime() {
    for round in 0..300 {
        let runtime = runtime(2);
        let dropped = Count::new();
        let tasks: Vec<_> = (0..40)
            .map(|number| {
                let guard = dropped.on_drop();
                runtime.spawn(async move {
                    let guard = guard;
                    if number % 2 == 0 {
                        pending::<()>().await;
                    }
                    guard
                })
            })
            .collect();
        let tasks = Mutex::new(tasks);
        race(runtime, 2, round % 50 * 200, move |_| {
            while let Some(task) = { tasks.lock().unwrap().pop() } {
                match task.id().to_string().len() % 3 {
                    0 => task.abort(),
                    1 => drop(wait_for(task)),
                    _ => drop(task),
                }
            }
        });
        assert_eq!(dropped.get(), 40);
    }
}

#[test]
fn tasks_that_spawn_tasks_for_ever_are_stopped() {
    fn breed(dropped: Count) {
        let guard = dropped.on_drop();
        drop(windlass::spawn(async move {
            let _guard = guard;
            windlass::yield_now().await;
            breed(dropped.clone());
            breed(dropped);
            pending::<()>().await;
        }));
    }
    for _ in 0..20 {
        let runtime = runtime(2);
        let dropped = Count::new();
        let inner = dropped.clone();
        runtime.block_on(async move {
            let (count, inner) = (Count::new(), inner);
            breed(inner);
            count.add();
        });
        thread::sleep(Duration::from_micros(500));
        let handle = runtime.handle().clone();
        let report = within_patience("shutdown", move || runtime.shutdown(PATIENCE));
        assert!(report.is_clean());
        let metrics = handle.metrics();
        assert_eq!(metrics.tasks_alive, 0);
        assert_eq!(metrics.tasks_spawned, metrics.tasks_finished);
        assert_eq!(dropped.get() as u64, metrics.tasks_spawned);
    }
}

#[test]
fn two_runtimes_that_wake_each_other_end_in_either_order() {
    for round in 0..100 {
        let (a, b) = (runtime(1), runtime(1));
        let (to_b, in_b) = windlass::channel::unbounded::<u32>();
        let (to_a, in_a) = windlass::channel::unbounded::<u32>();
        let echo = |inbox: windlass::channel::Receiver<u32>, to: windlass::channel::Sender<u32>| async move {
            while let Ok(number) = inbox.recv().await {
                if to.send(number + 1).await.is_err() {
                    break;
                }
            }
        };
        drop(a.spawn(echo(in_a, to_b.clone())));
        drop(b.spawn(echo(in_b, to_a)));
        for number in 0..4 {
            to_b.try_send(number).unwrap();
        }
        for _ in 0..round * 50 {
            std::hint::spin_loop();
        }
        let (first, second) = if round % 2 == 0 { (a, b) } else { (b, a) };
        within_patience("shutdown", move || {
            assert!(first.shutdown(PATIENCE).is_clean());
            assert!(second.shutdown(PATIENCE).is_clean());
        });
    }
}

/// Runtime, handle, join handle, abort handle, waker and guard of a task, dropped in every order.
#[test]
fn everything_is_dropped_in_every_order() {
    fn permutations(items: Vec<usize>) -> Vec<Vec<usize>> {
        if items.len() <= 1 {
            return vec![items];
        }
        let mut all = Vec::new();
        for index in 0..items.len() {
            let mut rest = items.clone();
            let first = rest.remove(index);
            all.extend(permutations(rest).into_iter().map(|mut order| {
                order.insert(0, first);
                order
            }));
        }
        all
    }
    for order in permutations((0..5).collect()) {
        let runtime = runtime(1);
        let (place, futures) = (Arc::new(Mutex::new(None)), Count::new());
        let task = {
            let (place, guard) = (place.clone(), futures.on_drop());
            runtime.spawn(poll_fn(move |cx| {
                let _guard = &guard;
                *place.lock().unwrap() = Some(cx.waker().clone());
                Poll::<()>::Pending
            }))
        };
        util::wait_until("the waker is there", || place.lock().unwrap().is_some());
        let handle = runtime.handle().clone();
        let mut things: Vec<Option<Box<dyn std::any::Any + Send>>> = vec![
            Some(Box::new(task.abort_handle())),
            Some(Box::new(task)),
            Some(Box::new(handle)),
            Some(Box::new(runtime)),
            Some(Box::new(place.lock().unwrap().take())),
        ];
        drop(place);
        within_patience("dropping", move || {
            for index in order {
                drop(things[index].take());
            }
        });
        assert_eq!(futures.get(), 1);
    }
}

/// What a worker spawns in a poll is in no list before it waits. Nobody may forget it for that.
#[test]
fn what_a_stuck_first_poll_has_spawned_is_dropped_without_being_polled() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let (stuck, other) = (OpenOnDrop(Gate::new()), OpenOnDrop(Gate::new()));
    let (busy, polled, dropped) = (Count::new(), Count::new(), Count::new());
    let line = Arc::new(AtomicU32::new(0));
    {
        let (other, busy) = (other.0.clone(), busy.clone());
        drop(runtime.spawn(async move {
            busy.add();
            other.wait();
        }));
    }
    // One worker is taken: what the other spawns nobody steals.
    busy.wait_for(1);
    {
        let (stuck, busy, line) = (stuck.0.clone(), busy.clone(), line.clone());
        let (polled, dropped) = (polled.clone(), dropped.clone());
        drop(runtime.spawn(async move {
            let first_poll = async move {
                for _ in 0..10 {
                    let (polled, guard) = (polled.clone(), dropped.on_drop());
                    drop(windlass::spawn(async move {
                        let _guard = guard;
                        polled.add();
                        pending::<()>().await;
                    }));
                }
                busy.add();
                stuck.wait();
            };
            line.store(line!() + 1, Relaxed);
            drop(windlass::spawn(first_poll));
        }));
    }
    busy.wait_for(2);
    let handle = runtime.handle().clone();
    let ending = thread::spawn(move || runtime.shutdown(Duration::from_millis(100)));
    wait_until("the runtime takes in nothing more", || handle.spawn(pending::<()>()).is_finished());
    other.0.open();
    dropped.wait_for(10);
    assert_eq!(polled.get(), 0);
    let report = ending.join().unwrap();
    assert!(!report.is_clean());
    let told = report.stragglers().iter().map(|straggler| straggler.location().line());
    assert!(told.into_iter().any(|told| told == line.load(Relaxed)), "{report}");
}

/// Tasks that end or wait for the first time, stolen or not, at the moment of the end.
#[test]
fn first_polls_race_with_the_end_of_the_runtime() {
    for round in 0..100 {
        let runtime = runtime(2 + round as usize % 3);
        let (made, dropped) = (Count::new(), Count::new());
        race(runtime, 2, round * 50, {
            let (made, dropped) = (made.clone(), dropped.clone());
            move |handle| {
                let (made, dropped) = (made.clone(), dropped.clone());
                drop(handle.spawn(async move {
                    for child in 0..64 {
                        made.add();
                        let guard = dropped.on_drop();
                        drop(windlass::spawn(async move {
                            let _guard = guard;
                            match child % 3 {
                                0 => {}
                                1 => windlass::yield_now().await,
                                _ => pending().await,
                            }
                        }));
                    }
                }));
            }
        });
        assert_eq!(dropped.get(), made.get());
    }
}
