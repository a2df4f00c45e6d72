//! A round: a few runtimes at once, from the first task to the last thread.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use windlass::timer::{now, sleep, test, timeout};
use windlass::{Builder, Runtime};

use crate::activities::Activity;
use crate::awake;
use crate::house::House;
use crate::ledger::{LEDGER, PATIENCE, count, fail};
use crate::random::Random;

/// Longer than a process may be stopped: what hangs is found sooner, by another clock.
const NO_HURRY: Duration = Duration::from_secs(24 * 3600);

/// More spares than there are tasks that block at once.
const MANY: usize = 64;

/// Many more workers than CPUs, now and then.
const CROWD: usize = 64;

/// Runs one to three runtimes side by side until all of them are gone.
pub(crate) fn run(mut random: Random) {
    let threads: Vec<_> = (0..random.within(1..4))
        .map(|_| {
            let random = random.fork();
            thread::spawn(move || one(random))
        })
        .collect();
    for thread in threads {
        if thread.join().is_err() {
            fail("a thread of the soak has panicked");
        }
    }
    count(&LEDGER.rounds, 1);
}

fn one(mut random: Random) {
    match random.within(0..10) {
        0 => manual(random),
        1 => virtual_time(random),
        _ => threaded(random),
    }
}

fn builder(random: &mut Random) -> Builder {
    Builder::new()
        .workers(if random.chance(2) { CROWD } else { random.within(1..5) })
        .max_blocking(random.within(1..9))
        .stuck_after(random.micros(1000..12_000))
        .blocking_keep_alive(random.micros(0..50_000))
}

fn build(builder: Builder) -> Runtime {
    builder.build().unwrap_or_else(|error| fail(&format!("no runtime: {error}")))
}

fn threaded(mut random: Random) {
    // With too few spares, tasks that block until others end may wait for ever: those need one each.
    let has_spares = random.chance(50);
    let spares = if has_spares { MANY } else { random.within(0..5) };
    let runtime = build(builder(&mut random).max_spares(spares));
    let house = House::new(runtime.handle().clone(), has_spares);
    let tasks: Vec<_> = (0..random.within(4..24))
        .map(|_| {
            let task = house.spawn(Activity::any(&house, &mut random));
            if random.chance(20) {
                let (abort, pause) = (task.abort_handle(), random.micros(0..20_000));
                drop(house.spawn(async move {
                    sleep(pause).await;
                    abort.abort();
                }));
            }
            task
        })
        .collect();
    if random.chance(50) {
        // To the end: everything that was begun ends by itself, and the shutdown has nothing to cancel.
        runtime.block_on(async {
            for task in tasks {
                task.join().await;
            }
        });
        house.wait_until_empty();
    } else {
        drop(tasks);
        thread::sleep(random.micros(0..30_000));
    }
    end(runtime, &house, random);
    house.wait_until_empty();
    count(&LEDGER.runtimes, 1);
}

/// Ends a runtime in one of the ways there are.
fn end(runtime: Runtime, house: &House, mut random: Random) {
    let start = awake::now();
    house.end();
    match random.within(0..5) {
        0 => drop(runtime),
        1 => drop(runtime.shutdown(Duration::ZERO)),
        2 => {
            let report = runtime.shutdown(NO_HURRY);
            if !report.is_clean() {
                fail(&format!("a shutdown that is not clean: {report}"));
            }
        }
        3 => within(runtime, |handle, end| drop(handle.spawn(async move { end() }))),
        _ => within(runtime, |handle, end| drop(handle.spawn_blocking(end))),
    }
    if awake::since(start) > PATIENCE {
        fail("a shutdown that takes too long");
    }
}

/// Drops the runtime inside of itself.
fn within(runtime: Runtime, spawn: impl FnOnce(&windlass::Handle, Box<dyn FnOnce() + Send>)) {
    let handle = runtime.handle().clone();
    let place = Arc::new(Mutex::new(Some(runtime)));
    let inner = place.clone();
    spawn(&handle, Box::new(move || drop(inner.lock().unwrap().take())));
    // Whoever comes first ends it. Behind work that blocks, that is this thread.
    let start = Instant::now();
    while place.lock().unwrap().is_some() && start.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_millis(1));
    }
    drop(place.lock().unwrap().take());
}

/// Hours that pass in no time, to the nanosecond.
fn virtual_time(mut random: Random) {
    let runtime = build(builder(&mut random).virtual_time());
    let house = House::new(runtime.handle().clone(), false);
    let ours = house.clone();
    let root = house.spawn(async move {
        let start = now();
        let tasks: Vec<_> = (0..random.within(1..50))
            .map(|_| {
                let (house, mut random) = (ours.clone(), random.fork());
                ours.spawn(async move {
                    for _ in 0..random.within(1..10) {
                        let (begun, time) = (now(), random.micros(0..usize::MAX >> 24));
                        if random.chance(30) {
                            let limit = time / 2;
                            let result = timeout(limit, sleep(time)).await;
                            house.always(result.is_err() || limit == time, "a time-out is late");
                            house.always(now() == begun + limit, "virtual time is not exact");
                        } else {
                            sleep(time).await;
                            house.always(now() == begun + time, "virtual time is not exact");
                        }
                        count(&LEDGER.timers, 1);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.join().await;
        }
        let hours = (now() - start).as_secs() / 3600;
        count(&LEDGER.virtual_hours, hours as usize);
        test::advance(Duration::from_secs(1));
    });
    runtime.block_on(root.join());
    house.end();
    drop(runtime);
    house.wait_until_empty();
    count(&LEDGER.runtimes, 1);
}

/// A loop that this thread drives, while others spawn onto it and wake its tasks.
fn manual(mut random: Random) {
    let mut tasks = Builder::new()
        .build_manual()
        .unwrap_or_else(|error| fail(&format!("no manual loop: {error}")));
    let house = House::new(tasks.handle().clone(), false);
    let spawner = {
        let (house, mut random) = (house.clone(), random.fork());
        thread::spawn(move || {
            for _ in 0..random.within(1..50) {
                let pause = random.micros(0..500);
                drop(house.spawn(async move { sleep(pause).await }));
                if random.chance(30) {
                    thread::sleep(random.micros(0..300));
                }
            }
        })
    };
    for _ in 0..random.within(1..100) {
        let mut inner = random.fork();
        drop(house.spawn(async move {
            for _ in 0..inner.within(0..5) {
                sleep(inner.micros(0..1000)).await;
                windlass::yield_now().await;
            }
        }));
    }
    let to_the_end = random.chance(50);
    let (start, limit) =
        (awake::now(), if to_the_end { PATIENCE } else { random.micros(0..10_000) });
    while awake::since(start) < limit && (house.alive() > 0 || !spawner.is_finished()) {
        match tasks.ready_tasks(Some(Duration::from_millis(5))) {
            Ok(ready) => {
                for task in ready {
                    // What is not run comes again.
                    if !random.chance(10) {
                        task.run();
                    }
                }
            }
            Err(error) => fail(&format!("a manual loop fails: {error}")),
        }
    }
    if to_the_end && house.alive() > 0 {
        fail("a manual loop does not come to its end");
    }
    house.end();
    drop(tasks);
    if spawner.join().is_err() {
        fail("a thread of the soak has panicked");
    }
    house.wait_until_empty();
    count(&LEDGER.loops, 1);
}
