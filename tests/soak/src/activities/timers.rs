//! Timers: late perhaps, early never.

use std::future::pending;
use std::time::{Duration, Instant};

use futures_lite::future;
use windlass::timer::{Timer, interval, sleep, sleep_until, timeout};

use super::abandon::abandon;
use crate::house::House;
use crate::ledger::{LEDGER, count};
use crate::random::Random;

fn fired(house: &House, deadline: Instant) {
    house.always(Instant::now() >= deadline, "a timer is early");
    count(&LEDGER.timers, 1);
}

/// Crowds of sleeps, some of which are given up.
pub(crate) async fn sleeps(house: House, mut random: Random) {
    let tasks: Vec<_> = (0..random.within(1..200))
        .map(|_| {
            let (ours, mut random) = (house.clone(), random.fork());
            house.spawn(async move {
                for _ in 0..random.within(1..8) {
                    let time = random.micros(0..4000);
                    let deadline = Instant::now() + time;
                    let wait = sleep(time);
                    if random.chance(20) {
                        if abandon(wait, 0).await.is_none() {
                            count(&LEDGER.abandoned, 1);
                            continue;
                        }
                    } else {
                        wait.await;
                    }
                    fired(&ours, deadline);
                }
            })
        })
        .collect();
    for task in tasks {
        task.join().await;
    }
}

/// Sleeps that are moved while they are armed, and timers that are used again.
pub(crate) async fn resets(house: House, mut random: Random) {
    let mut moved = sleep(Duration::from_secs(3600));
    let mut timer = Timer::new(random.micros(1..2000));
    for _ in 0..random.within(1..40) {
        let _ = abandon(&mut moved, 0).await;
        let deadline = Instant::now() + random.micros(0..2000);
        moved.reset(deadline);
        if random.chance(30) {
            continue;
        }
        (&mut moved).await;
        fired(&house, deadline);
        moved.reset(Instant::now() + Duration::from_secs(3600));
        let start = Instant::now();
        (&mut timer).await;
        fired(&house, start + timer.duration());
    }
}

/// Intervals tick on or after their times.
pub(crate) async fn intervals(house: House, mut random: Random) {
    let period = random.micros(100..2000);
    let start = Instant::now();
    let mut ticks = interval(period);
    for number in 0..random.within(1..40) as u32 {
        while abandon(ticks.tick(), random.within(0..2)).await.is_none() {
            count(&LEDGER.abandoned, 1);
        }
        fired(&house, start + period * number);
    }
}

/// Time-outs around what never ends, what ends, and what races with them.
pub(crate) async fn time_outs(house: House, mut random: Random) {
    for _ in 0..random.within(1..40) {
        let limit = random.micros(0..1500);
        let start = Instant::now();
        match random.within(0..3) {
            0 => {
                house.always(timeout(limit, pending::<()>()).await.is_err(), "nothing has ended");
                fired(&house, start + limit);
            }
            1 => {
                let inner = random.micros(0..1500);
                match timeout(limit, sleep(inner)).await {
                    Ok(()) => fired(&house, start + inner),
                    Err(_) => fired(&house, start + limit),
                }
            }
            _ => {
                let (first, second) = (random.micros(0..1500), random.micros(0..1500));
                future::or(sleep_until(start + first), sleep_until(start + second)).await;
                fired(&house, start + first.min(second));
            }
        }
    }
}
