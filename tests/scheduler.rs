//! Fairness: every task that is ready gets its turn, whatever the others do.

mod util;

use std::future::{Future, poll_fn};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use util::{AsyncGate, Count, Gate, OpenOnDrop, PATIENCE, runtime, wait_for, wait_until};
use windlass::{Builder, Runtime};

/// One worker and nobody to help it: what starves there, starves.
fn lone_worker() -> Runtime {
    Builder::new().workers(1).max_spares(0).build().unwrap()
}

#[derive(Clone, Default)]
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn is_set(&self) -> bool {
        self.0.load(SeqCst)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

/// Yields until told to stop; does nothing else.
async fn spinner(stop: Arc<AtomicBool>, turns: Count) {
    while !stop.load(SeqCst) {
        turns.add();
        windlass::yield_now().await;
    }
}

/// Timers fire and sockets deliver.
fn the_poller_gets_its_turn(runtime: &Runtime) {
    let task = runtime.spawn(async {
        for number in 0..5 {
            windlass::timer::sleep(Duration::from_millis(1)).await;
            let socket = windlass::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let address = socket.local_addr().unwrap();
            let mut byte = [0];
            let receives = windlass::spawn(async move {
                socket.recv(&mut byte).await.unwrap();
                byte[0]
            });
            // From a task behind the one that waits.
            windlass::yield_now().await;
            let sender = windlass::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
            sender.send_to(&[number], address).await.unwrap();
            assert_eq!(receives.await.unwrap(), number);
        }
    });
    wait_for(task).unwrap();
}

#[test]
fn a_task_that_wakes_itself_for_ever_starves_neither_queued_nor_injected_tasks() {
    let runtime = lone_worker();
    let (stop, turns) = (Stop::default(), Count::new());
    let hog = runtime.spawn(spinner(stop.0.clone(), turns.clone()));
    turns.wait_for(1);
    for _ in 0..100 {
        // From outside through the injector, and from inside through the worker's queue.
        let task = runtime.spawn(async { windlass::spawn(async { 1 }).await.unwrap() });
        assert_eq!(wait_for(task).unwrap(), 1);
    }
    the_poller_gets_its_turn(&runtime);
    assert!(!stop.is_set());
    drop(stop);
    wait_for(hog).unwrap();
}

/// The two wake each other only, so that they stay in the LIFO slot as long as they are let.
#[test]
fn a_pair_that_plays_ping_pong_through_the_lifo_slot_starves_nobody() {
    let runtime = lone_worker();
    let (stop, turns) = (Stop::default(), Count::new());
    let (ping, pong) = (windlass::channel::bounded::<()>(1), windlass::channel::bounded::<()>(1));
    let player = |inbox: windlass::channel::Receiver<()>, to: windlass::channel::Sender<()>| {
        let (stop, turns) = (stop.0.clone(), turns.clone());
        runtime.spawn(async move {
            while !stop.load(SeqCst) && inbox.recv().await.is_ok() {
                turns.add();
                let _ = to.send(()).await;
            }
        })
    };
    ping.0.send_blocking(()).unwrap();
    let players = [player(ping.1, pong.0), player(pong.1, ping.0)];
    turns.wait_for(100);
    for _ in 0..100 {
        let task = runtime.spawn(async { windlass::spawn(windlass::yield_now()).await.unwrap() });
        wait_for(task).unwrap();
    }
    the_poller_gets_its_turn(&runtime);
    drop(stop);
    for player in players {
        wait_for(player).unwrap();
    }
}

#[test]
fn what_comes_from_outside_runs_while_every_worker_is_saturated() {
    let runtime = Builder::new().workers(2).max_spares(0).build().unwrap();
    let (stop, turns) = (Stop::default(), Count::new());
    let hogs: Vec<_> =
        (0..200).map(|_| runtime.spawn(spinner(stop.0.clone(), turns.clone()))).collect();
    turns.wait_for(1_000);
    // How many polls of others each had to wait for. The OS may keep this thread from running in between, now and then.
    let mut waits: Vec<_> = (0..51)
        .map(|_| {
            let (before, now) = (turns.get(), turns.clone());
            wait_for(runtime.spawn(async move { now.get() })).unwrap() - before
        })
        .collect();
    waits.sort_unstable();
    assert!(waits[25] < 500_000, "waited for {waits:?} polls of others");
    // A wake-up from outside takes the same way.
    let gate = AsyncGate::new();
    let waiting = {
        let gate = gate.clone();
        runtime.spawn(async move { gate.wait().await })
    };
    wait_until("it waits", || gate.waiting() == 1);
    gate.open();
    wait_for(waiting).unwrap();
    drop(stop);
    hogs.into_iter().for_each(|hog| wait_for(hog).unwrap());
}

#[test]
fn a_backlog_from_outside_does_not_starve_the_workers_own_tasks() {
    let runtime = lone_worker();
    let done = Count::new();
    let own = {
        let done = done.clone();
        runtime.spawn(async move {
            for _ in 0..1_000 {
                windlass::yield_now().await;
            }
            done.get()
        })
    };
    let flood = |count: usize| {
        for _ in 0..count {
            let done = done.clone();
            drop(runtime.spawn(async move {
                done.add();
            }));
        }
    };
    let mut sent = 0;
    while !own.is_finished() && sent < 3_000_000 {
        flood(1_000);
        sent += 1_000;
    }
    assert!(own.is_finished(), "{sent} spawns kept it from its turns");
    wait_for(own).unwrap();
}

/// Everything this task awaits has ended long ago: only the budget makes it let go.
#[test]
fn a_task_that_finds_everything_ready_lets_others_run() {
    let runtime = lone_worker();
    let other_ran = Arc::new(AtomicBool::new(false));
    let greedy = {
        let other_ran = other_ran.clone();
        runtime.spawn(async move {
            let finished: Vec<_> = (0..100_000).map(|_| windlass::spawn(async {})).collect();
            while !finished.last().unwrap().is_finished() {
                windlass::yield_now().await;
            }
            drop(windlass::spawn({
                let other_ran = other_ran.clone();
                async move { other_ran.store(true, SeqCst) }
            }));
            for (taken, handle) in finished.into_iter().enumerate() {
                handle.await.unwrap();
                if other_ran.load(SeqCst) {
                    return taken;
                }
            }
            usize::MAX
        })
    };
    assert!(wait_for(greedy).unwrap() < 100_000);
}

#[test]
fn consume_budget_makes_a_loop_without_awaits_let_go() {
    let runtime = lone_worker();
    let (stop, started) = (Stop::default(), Count::new());
    let hog = {
        let (stop, started) = (stop.0.clone(), started.clone());
        runtime.spawn(async move {
            while !stop.load(SeqCst) {
                started.add();
                windlass::task::consume_budget().await;
            }
        })
    };
    started.wait_for(1);
    wait_for(runtime.spawn(async {})).unwrap();
    drop(stop);
    wait_for(hog).unwrap();
    // Outside of tasks there is nobody to let go for.
    wait_for(async {
        for _ in 0..100_000 {
            windlass::task::consume_budget().await;
        }
    });
}

#[test]
fn resume_on_pool_fails_once_the_runtime_shuts_down() {
    let runtime = runtime(1);
    let handle = runtime.handle().clone();
    assert!(runtime.shutdown(PATIENCE).is_clean());
    assert!(handle.block_on(windlass::resume_on_pool()).is_err());
}

/// The wake-up that `block_on` waits for sits in the queue of a runtime whose workers are stuck.
#[test]
fn resume_on_pool_comes_back_when_the_runtime_shuts_down_meanwhile() {
    let runtime = lone_worker();
    let (busy, release) = (Gate::new(), OpenOnDrop(Gate::new()));
    let hog = {
        let (busy, release) = (busy.clone(), release.0.clone());
        runtime.spawn(async move {
            busy.open();
            release.wait();
        })
    };
    busy.wait();
    let handle = runtime.handle().clone();
    let polled = Count::new();
    let blocked = {
        let polled = polled.clone();
        thread::spawn(move || {
            handle.block_on(async {
                let mut resume = Box::pin(windlass::resume_on_pool());
                poll_fn(|cx| {
                    let poll = resume.as_mut().poll(cx);
                    polled.add();
                    poll
                })
                .await
            })
        })
    };
    polled.wait_for(1);
    let handle = runtime.handle().clone();
    let ending = thread::spawn(move || runtime.shutdown(PATIENCE));
    // Spawning fails from the moment on at which everything queued is cancelled.
    wait_until("the runtime shuts down", || {
        handle.spawn(std::future::pending::<()>()).is_finished()
    });
    release.0.open();
    assert!(ending.join().unwrap().is_clean());
    wait_for(hog).unwrap();
    wait_until("block_on comes back", || blocked.is_finished());
    let _ = blocked.join().unwrap();
}

/// A worker whose polls are long leaves the OS to others; where there are none, it used to look there never.
#[test]
fn a_socket_is_served_beside_long_polls_on_a_lone_worker() {
    let runtime = lone_worker();
    let stop = Stop::default();
    for _ in 0..4 {
        let stop = stop.0.clone();
        drop(runtime.spawn(async move {
            while !stop.load(SeqCst) {
                let start = Instant::now();
                while start.elapsed() < Duration::from_micros(200) {}
                windlass::yield_now().await;
            }
        }));
    }
    let listener = wait_for(runtime.spawn(windlass::net::TcpListener::bind("127.0.0.1:0")));
    let listener = listener.unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    let server = runtime.spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut byte = [0];
        for _ in 0..20 {
            stream.read_exact(&mut byte).await.unwrap();
            stream.write_all(&byte).await.unwrap();
        }
    });
    let client = std::net::TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    for number in 0..20 {
        let mut byte = [0];
        (&client).write_all(&[number]).unwrap();
        (&client).read_exact(&mut byte).unwrap();
        assert_eq!(byte, [number]);
    }
    wait_for(server).unwrap();
    drop(stop);
}
