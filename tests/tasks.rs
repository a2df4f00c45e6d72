//! Tasks: when they are polled, what wakers may do and when, what identifies them.

mod util;

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread;

use util::{AsyncGate, Count, Gate, OpenOnDrop, PATIENCE, runtime, wait_for, wait_until};

/// A place to leave a waker in.
type WakerPlace = Arc<Mutex<Option<Waker>>>;

/// A task that counts its polls, leaves its waker behind each time and ends with the poll that
/// finds `done` open.
async fn counted(polls: Count, place: WakerPlace, done: Gate) {
    poll_fn(move |cx| {
        polls.add();
        *place.lock().unwrap() = Some(cx.waker().clone());
        if done.is_open() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Lets everything that is ready now run, on a runtime with one worker.
fn settle(runtime: &windlass::Runtime) {
    for _ in 0..3 {
        wait_for(runtime.spawn(windlass::yield_now())).unwrap();
    }
}

#[test]
#[expect(clippy::waker_clone_wake, reason = "waking by value is what is tested")]
fn a_task_that_wakes_itself_during_its_poll_is_polled_exactly_once_more() {
    let runtime = runtime(1);
    let polls = Count::new();
    let task = {
        let polls = polls.clone();
        runtime.spawn(poll_fn(move |cx| {
            if polls.add() == 0 {
                for _ in 0..3 {
                    cx.waker().wake_by_ref();
                    cx.waker().clone().wake();
                }
            }
            Poll::<()>::Pending
        }))
    };
    polls.wait_for(2);
    settle(&runtime);
    assert_eq!(polls.get(), 2);
    assert!(!task.is_finished());
}

#[test]
fn a_wake_from_another_thread_during_the_poll_gives_exactly_one_more_poll() {
    let runtime = runtime(1);
    let (wakers, inbox) = mpsc::channel::<(Waker, mpsc::Sender<()>)>();
    let waking = thread::spawn(move || {
        for (waker, answer) in inbox {
            waker.wake_by_ref();
            waker.wake();
            answer.send(()).unwrap();
        }
    });
    for _ in 0..300 {
        let polls = Count::new();
        let task = {
            let (polls, wakers) = (polls.clone(), wakers.clone());
            runtime.spawn(poll_fn(move |cx| {
                if polls.add() == 0 {
                    let (answer, answered) = mpsc::channel();
                    wakers.send((cx.waker().clone(), answer)).unwrap();
                    answered.recv_timeout(PATIENCE).unwrap();
                }
                Poll::<()>::Pending
            }))
        };
        polls.wait_for(2);
        settle(&runtime);
        assert_eq!(polls.get(), 2);
        task.abort();
    }
    drop((wakers, runtime));
    waking.join().unwrap();
}

#[test]
fn wakes_of_a_task_that_is_already_queued_collapse_into_one_poll() {
    let runtime = windlass::Builder::new().workers(1).max_spares(0).build().unwrap();
    let (polls, place, done) = (Count::new(), WakerPlace::default(), Gate::new());
    let task = runtime.spawn(counted(polls.clone(), place.clone(), done.clone()));
    polls.wait_for(1);
    settle(&runtime);

    let (busy, release) = (Gate::new(), OpenOnDrop(Gate::new()));
    let hog = {
        let (busy, release) = (busy.clone(), release.0.clone());
        runtime.spawn(async move {
            busy.open();
            release.wait();
        })
    };
    busy.wait();
    let waker = place.lock().unwrap().clone().unwrap();
    for _ in 0..1_000 {
        waker.wake_by_ref();
    }
    release.0.open();
    wait_for(hog).unwrap();
    polls.wait_for(2);
    settle(&runtime);
    assert_eq!(polls.get(), 2);

    done.open();
    waker.wake();
    wait_for(task).unwrap();
    assert_eq!(polls.get(), 3);
}

#[test]
#[expect(clippy::waker_clone_wake, reason = "waking by value is what is tested")]
fn a_wake_after_completion_does_nothing() {
    let runtime = runtime(1);
    let (polls, place, done) = (Count::new(), WakerPlace::default(), Gate::new());
    done.open();
    wait_for(runtime.spawn(counted(polls.clone(), place.clone(), done))).unwrap();
    let waker = place.lock().unwrap().take().unwrap();
    wait_until("the task is counted", || runtime.metrics().tasks_finished == 1);
    for _ in 0..100 {
        waker.wake_by_ref();
        waker.clone().wake();
    }
    settle(&runtime);
    assert_eq!(polls.get(), 1);
    assert_eq!(runtime.metrics().injector_len, 0);
}

#[test]
fn a_waker_outlives_its_task_and_its_runtime() {
    let runtime = runtime(2);
    let places: Vec<WakerPlace> = (0..8).map(|_| WakerPlace::default()).collect();
    let polls = Count::new();
    for (index, place) in places.iter().enumerate() {
        let done = Gate::new();
        if index % 2 == 0 {
            done.open();
        }
        drop(runtime.spawn(counted(polls.clone(), place.clone(), done)));
    }
    polls.wait_for(8);
    let wakers: Vec<Waker> =
        places.iter().map(|place| place.lock().unwrap().take().unwrap()).collect();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    let threads: Vec<_> = wakers
        .into_iter()
        .map(|waker| {
            thread::spawn(move || {
                let other = waker.clone();
                assert!(other.will_wake(&waker));
                waker.wake_by_ref();
                waker.wake();
                other.wake_by_ref();
                drop(other);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(polls.get(), 8);
}

/// The last references to a task are given up by its runner, its handle and its wakers, in any
/// order.
#[test]
fn wakes_and_waker_drops_race_with_completion() {
    let runtime = runtime(2);
    for round in 0..3_000 {
        let place = WakerPlace::default();
        let task = {
            let (place, mut polled) = (place.clone(), false);
            runtime.spawn(poll_fn(move |cx| {
                if std::mem::replace(&mut polled, true) {
                    return Poll::Ready(7);
                }
                *place.lock().unwrap() = Some(cx.waker().clone());
                Poll::Pending
            }))
        };
        let waker = loop {
            if let Some(waker) = place.lock().unwrap().take() {
                break waker;
            }
            thread::yield_now();
        };
        let late = waker.clone();
        waker.wake();
        match round % 3 {
            0 => late.wake(),
            1 => late.wake_by_ref(),
            _ => drop(late),
        }
        if round % 2 == 0 {
            assert_eq!(wait_for(task).unwrap(), 7);
        }
    }
}

#[test]
fn no_signal_is_lost_between_many_waking_threads_and_the_poll() {
    const THREADS: usize = 4;
    const SIGNALS: usize = 20_000;
    let runtime = runtime(2);
    let sent = Arc::new(AtomicUsize::new(0));
    let place = WakerPlace::default();
    let task = {
        let (sent, place) = (sent.clone(), place.clone());
        runtime.spawn(poll_fn(move |cx| {
            *place.lock().unwrap() = Some(cx.waker().clone());
            if sent.load(Ordering::Relaxed) == THREADS * SIGNALS {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }))
    };
    wait_until("the first poll", || place.lock().unwrap().is_some());
    let waker = place.lock().unwrap().clone().unwrap();
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (sent, waker) = (sent.clone(), waker.clone());
            thread::spawn(move || {
                for _ in 0..SIGNALS {
                    // Relaxed on purpose: the wake-up is what orders the signal before the poll.
                    sent.fetch_add(1, Ordering::Relaxed);
                    waker.wake_by_ref();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    wait_for(task).unwrap();
}

/// One signal at a time, so that every wake-up meets a worker on its way to sleep.
#[test]
fn no_wake_up_is_lost_on_a_worker_that_falls_asleep() {
    let runtime = runtime(2);
    let (to_task, in_task) = windlass::channel::bounded::<u32>(1);
    let (from_task, answers) = mpsc::channel();
    drop(runtime.spawn(async move {
        while let Ok(number) = in_task.recv().await {
            from_task.send(number).unwrap();
        }
    }));
    for number in 0..20_000 {
        to_task.send_blocking(number).unwrap();
        assert_eq!(answers.recv_timeout(PATIENCE), Ok(number));
    }
}

#[test]
fn ids_are_unique_across_threads_runtimes_and_kinds_of_tasks() {
    let runtimes = [runtime(1), runtime(2)];
    let ids = Mutex::new(HashSet::new());
    thread::scope(|scope| {
        for runtime in runtimes.iter().chain(&runtimes) {
            scope.spawn(|| {
                for number in 0..1_000 {
                    let task = runtime.spawn(async move { windlass::spawn(async {}).id() });
                    let id = task.id();
                    assert_eq!(task.abort_handle().id(), id);
                    let inner = wait_for(task).unwrap();
                    let mut ids = ids.lock().unwrap();
                    assert!(ids.insert(id) && ids.insert(inner));
                    if number % 50 == 0 {
                        assert!(ids.insert(runtime.spawn_blocking(|| ()).id()));
                    }
                }
            });
        }
    });
}

#[test]
fn a_thousand_tasks_waiting_at_one_gate_all_pass() {
    let runtime = runtime(2);
    for _ in 0..20 {
        let gate = AsyncGate::new();
        let tasks: Vec<_> = (0..1_000)
            .map(|number| {
                let gate = gate.clone();
                runtime.spawn(async move {
                    gate.wait().await;
                    number
                })
            })
            .collect();
        gate.open();
        for (number, task) in tasks.into_iter().enumerate() {
            assert_eq!(wait_for(task).unwrap(), number);
        }
    }
}

#[test]
fn yield_now_and_resume_on_pool_come_back() {
    let runtime = runtime(2);
    let task = runtime.spawn(async {
        for _ in 0..1_000 {
            windlass::yield_now().await;
            windlass::task::yield_now().await;
            windlass::resume_on_pool().await.unwrap();
        }
    });
    wait_for(task).unwrap();
    runtime.block_on(async {
        let before = thread::current().id();
        for _ in 0..100 {
            windlass::yield_now().await;
            windlass::resume_on_pool().await.unwrap();
        }
        assert_eq!(thread::current().id(), before);
    });
    assert!(runtime.shutdown(PATIENCE).is_clean());
}
