//! Virtual time: hours pass in no time, in order, and only when everything is idle.

mod util;

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use util::{Count, Gate, poll_once, wait_for, within_patience};
use windlass::timer::{interval, now, sleep, test, timeout};
use windlass::{Runtime, spawn};

const HOUR: Duration = Duration::from_secs(3600);
const SECOND: Duration = Duration::from_secs(1);

fn runtime(workers: usize) -> Runtime {
    windlass::Builder::new().workers(workers).virtual_time().build().unwrap()
}

#[test]
fn a_year_of_sleeping_takes_no_time() {
    for workers in [1, 2, 4] {
        within_patience("a year", move || {
            let runtime = runtime(workers);
            runtime.block_on(async {
                let start = now();
                for _ in 0..365 {
                    sleep(24 * HOUR).await;
                }
                assert_eq!(now() - start, 365 * 24 * HOUR);
            });
        });
    }
}

#[test]
fn tasks_act_in_the_order_of_their_deadlines() {
    for workers in [1, 3] {
        within_patience("the tasks", move || {
            let runtime = runtime(workers);
            let log = Arc::new(Mutex::new(Vec::new()));
            runtime.block_on(async {
                // Spawned from inside, as time would pass between two spawns from outside.
                let start = now();
                let tasks: Vec<_> = (1..=20_u32)
                    .map(|number| {
                        let log = log.clone();
                        spawn(async move {
                            for round in 1..=5 {
                                sleep(number * SECOND).await;
                                assert_eq!(now() - start, round * number * SECOND);
                                log.lock().unwrap().push(now());
                            }
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
            });
            assert!(log.lock().unwrap().is_sorted());
        });
    }
}

#[test]
fn a_crowd_with_one_deadline_sees_it_to_the_nanosecond() {
    for workers in [1, 4] {
        within_patience("the crowd", move || {
            let runtime = runtime(workers);
            runtime.block_on(async {
                let start = now();
                let tasks: Vec<_> = (0..5_000_u32)
                    .map(|number| {
                        spawn(async move {
                            let time = HOUR + Duration::from_nanos(u64::from(number % 3));
                            sleep(time).await;
                            assert_eq!(now() - start, time);
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
            });
        });
    }
}

#[test]
fn moving_the_time_fires_all_that_is_due_however_many() {
    within_patience("the crowd", || {
        let runtime = runtime(1);
        runtime.block_on(async {
            let mut naps: Vec<_> = (0..60_000).map(|_| sleep(HOUR)).collect();
            naps.extend((0..1_000).map(|number| sleep(HOUR + number * SECOND)));
            assert!(naps.iter_mut().all(|nap| util::poll_once(nap).is_pending()));
            test::advance(2 * HOUR);
            assert_eq!(runtime.metrics().timers, 0);
            assert!(naps.iter_mut().all(|nap| util::poll_once(nap).is_ready()));
        });
    });
}

#[test]
fn a_crowd_that_is_not_due_does_not_hold_up_a_jump() {
    within_patience("a minute of ticks", || {
        runtime(1).block_on(async {
            // In one slot of a wheel whose time has come, but none of them is due.
            for number in 0..100 {
                let time = 90 * SECOND + number * Duration::from_millis(1);
                drop(spawn(timeout(time, std::future::pending::<()>())));
            }
            let start = now();
            let mut ticks = interval(SECOND);
            for second in 0..60 {
                assert_eq!(ticks.tick().await - start, second * SECOND);
            }
        });
    });
}

#[test]
fn time_stands_still_while_anything_is_going_on() {
    within_patience("the test", || {
        let runtime = runtime(2);
        runtime.block_on(async {
            let start = now();
            let nap = windlass::spawn(sleep(HOUR));
            // A closure of the blocking pool.
            let closure = windlass::spawn_blocking(|| thread::sleep(Duration::from_millis(30)));
            assert!(timeout(2 * HOUR, closure).await.is_ok());
            assert_eq!(now() - start, Duration::ZERO);
            // This thread.
            thread::sleep(Duration::from_millis(30));
            assert_eq!(now() - start, Duration::ZERO);
            nap.await.unwrap();
            assert_eq!(now() - start, HOUR);
        });
        // A task that blocks its worker.
        let start = runtime.block_on(async { now() });
        let gate = Gate::new();
        let inner = gate.clone();
        let task = runtime.spawn(async move {
            inner.wait();
            now()
        });
        let nap = runtime.spawn(sleep(SECOND));
        thread::sleep(Duration::from_millis(20));
        gate.open();
        assert_eq!(runtime.block_on(task).unwrap(), start);
        runtime.block_on(nap).unwrap();
    });
}

#[test]
fn a_waker_that_outlives_its_block_on_does_not_stop_the_time() {
    for panics in [false, true] {
        within_patience("an hour", move || {
            let runtime = runtime(1);
            let mut kept = None;
            let ended = catch_unwind(AssertUnwindSafe(|| {
                runtime.block_on(poll_fn(|cx| {
                    kept = Some(cx.waker().clone());
                    if panics {
                        util::throw("in a poll");
                    }
                    Poll::Ready(())
                }));
            }));
            assert_eq!(ended.is_err(), panics);
            runtime.block_on(async { sleep(HOUR).await });
            let kept = kept.unwrap();
            kept.wake_by_ref();
            runtime.block_on(async { sleep(HOUR).await });
            kept.wake();
            runtime.block_on(async { sleep(HOUR).await });
        });
    }
}

#[test]
fn a_thread_that_waits_in_a_block_on_within_another_is_not_busy() {
    within_patience("the test", || {
        let (runtime, real) = (Arc::new(runtime(2)), util::runtime(1));
        let start = runtime.block_on(async { now() });
        runtime.block_on(async {
            runtime.block_on(async {
                sleep(HOUR).await;
                real.block_on(async { runtime.block_on(async { sleep(HOUR).await }) });
            });
            // The outer one counts again.
            let nap = spawn(sleep(HOUR));
            thread::sleep(Duration::from_millis(20));
            assert_eq!(now() - start, 2 * HOUR);
            nap.await.unwrap();
            // It may be woken while the inner one waits.
            let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
            waker.wake_by_ref();
            runtime.block_on(async { sleep(HOUR).await });
            waker.wake();
        });
        let inner = runtime.clone();
        let closure = runtime.spawn_blocking(move || {
            inner.block_on(sleep(HOUR));
            inner.block_on(async { inner.block_on(sleep(HOUR)) });
            let time = inner.block_on(async { now() });
            let nap = inner.spawn(async { sleep(HOUR).await });
            // The closure counts again.
            thread::sleep(Duration::from_millis(20));
            assert_eq!(inner.block_on(async { now() }), time);
            inner.block_on(nap).unwrap();
        });
        runtime.block_on(closure).unwrap();
        assert_eq!(runtime.block_on(async { now() }) - start, 7 * HOUR);
    });
}

#[test]
fn time_can_be_moved_by_hand() {
    within_patience("the test", || {
        let runtime = runtime(2);
        runtime.block_on(async {
            let start = test::now();
            let woken = Count::new();
            let inner = woken.clone();
            let task = windlass::spawn(async move {
                sleep(HOUR).await;
                inner.add();
            });
            test::advance(HOUR / 2);
            assert_eq!((test::now() - start, woken.get()), (HOUR / 2, 0));
            test::advance(10 * HOUR);
            task.await.unwrap();
            assert!(now() - start >= 10 * HOUR + HOUR / 2);
            // What is never to fire does not, whatever happens.
            let never = timeout(SECOND, sleep(Duration::MAX));
            test::advance(100 * 365 * 24 * HOUR);
            assert!(never.await.is_err());
        });
    });
}

#[test]
fn time_outs_and_intervals_follow_virtual_time() {
    within_patience("the test", || {
        runtime(2).block_on(async {
            let start = now();
            let mut ticks = interval(60 * SECOND);
            for minute in 0..=60 {
                assert_eq!(ticks.tick().await - start, minute * 60 * SECOND);
            }
            assert!(timeout(HOUR, std::future::pending::<()>()).await.is_err());
            assert_eq!(now() - start, 2 * HOUR);
        });
    });
}

#[test]
fn sockets_get_their_time_before_the_clock_jumps() {
    /// Talks over a connection, and returns how far the clock has jumped meanwhile.
    async fn talk() -> Duration {
        let listener = windlass::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = windlass::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 16];
            for _ in 0..200 {
                // One that is over is noticed by the clock.
                let Ok(read) = timeout(HOUR, stream.read(&mut buffer)).await else { return };
                stream.write_all(&buffer[..read.unwrap()]).await.unwrap();
            }
        });
        let start = now();
        let stream = windlass::net::TcpStream::connect(address).await.unwrap();
        let mut buffer = [0; 16];
        for _ in 0..200 {
            stream.write_all(b"hello").await.unwrap();
            if timeout(HOUR, stream.read_exact(&mut buffer[..5])).await.is_err() {
                break;
            }
        }
        drop(stream);
        server.await.unwrap();
        now() - start
    }
    // The kernel of a machine that is busy with other things may take longer to deliver than the clock waits.
    let mut attempts = (0..5).map(|_| within_patience("a talk", || runtime(2).block_on(talk())));
    assert!(attempts.any(|jumped| jumped.is_zero()), "the clock jumps each time");
}

#[test]
fn a_manual_loop_has_virtual_time_too() {
    within_patience("the loop", || {
        let mut tasks = windlass::Builder::new().virtual_time().build_manual().unwrap();
        let handle = tasks.spawn_local(async {
            let start = now();
            for _ in 0..24 {
                sleep(HOUR).await;
            }
            assert_eq!(now() - start, 24 * HOUR);
        });
        while !handle.is_finished() {
            tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
        }
    });
}

#[test]
fn a_manual_loop_does_not_jump_over_what_other_threads_do() {
    const WHILE: Duration = Duration::from_millis(20);
    within_patience("the loop", || {
        let mut tasks = windlass::Builder::new().virtual_time().build_manual().unwrap();
        let other = tasks.handle().clone();
        let handle = tasks.spawn_local(async move {
            let start = now();
            let closure = windlass::spawn_blocking(|| thread::sleep(WHILE));
            assert!(timeout(HOUR, closure).await.is_ok());
            assert_eq!(now() - start, Duration::ZERO);
            // One that nobody waits for.
            let done = Count::new();
            let inner = done.clone();
            drop(windlass::spawn_blocking(move || {
                thread::sleep(WHILE);
                inner.add();
            }));
            sleep(HOUR).await;
            assert_eq!((now() - start, done.get()), (HOUR, 1));
            // Another thread in `block_on`.
            let (started, inner) = (Gate::new(), done.clone());
            let gate = started.clone();
            let thread = thread::spawn(move || {
                other.block_on(async {
                    gate.open();
                    thread::sleep(WHILE);
                    inner.add();
                });
            });
            started.wait();
            sleep(HOUR).await;
            assert_eq!((now() - start, done.get()), (2 * HOUR, 2));
            thread.join().unwrap();
        });
        while !handle.is_finished() {
            tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
        }
        wait_for(handle).unwrap();
    });
}

#[test]
fn a_manual_loop_driven_from_its_own_block_on_has_virtual_time() {
    within_patience("the loop", || {
        let mut tasks = windlass::Builder::new().virtual_time().build_manual().unwrap();
        let handle = tasks.spawn_local(async { sleep(HOUR).await });
        tasks.handle().clone().block_on(async {
            while !handle.is_finished() {
                tasks.ready_tasks(None).unwrap().for_each(windlass::manual::Runnable::run);
            }
        });
    });
}

/// It counts in the OS's time from then on, wherever it goes.
#[test]
fn a_sleep_that_outlives_virtual_time_and_then_another_runtime_is_not_late() {
    let virtual_one = runtime(1);
    let nap = virtual_one.block_on(async {
        test::advance(HOUR);
        let mut nap = sleep(SECOND / 4);
        assert!(poll_once(&mut nap).is_pending());
        // Not to be awaited here.
        Some(nap)
    });
    let mut nap = nap.unwrap();
    drop(virtual_one);
    for runtime in [util::runtime(1), util::runtime(1)] {
        let _entered = runtime.enter();
        let _ = poll_once(&mut nap);
    }
    // It was late by an hour.
    let (deadline, now) = (nap.deadline().unwrap(), Instant::now());
    assert!(deadline <= now + SECOND, "late by {:?}", deadline - now);
    wait_for(nap);
}

#[test]
fn a_runtime_of_real_time_is_not_touched() {
    let real = util::runtime(1);
    let virtual_one = runtime(1);
    virtual_one.block_on(async { test::advance(HOUR) });
    let start = Instant::now();
    real.block_on(sleep(Duration::from_millis(1)));
    assert!(start.elapsed() >= Duration::from_millis(1));
    let moved = std::panic::catch_unwind(|| real.block_on(async { test::advance(HOUR) }));
    assert!(moved.is_err(), "the OS's time can't be moved");
}
