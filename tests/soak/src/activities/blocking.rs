//! Code that blocks, where it may and where it should not.

use std::thread;

use windlass::task::block_in_place;
use windlass::timer::sleep;

use crate::house::House;
use crate::ledger::{LEDGER, count};
use crate::random::Random;

/// Closures on the threads for them, some aborted before they begin.
pub(crate) async fn closures(house: House, mut random: Random) {
    let tasks: Vec<_> = (0..random.within(1..40))
        .map(|_| {
            let pause = random.micros(0..2000);
            let task = house.spawn_blocking(move || thread::sleep(pause));
            if random.chance(15) {
                task.abort_handle().abort();
            }
            task
        })
        .collect();
    for task in tasks {
        task.join().await;
    }
}

/// Tasks that block their worker, with others behind them.
pub(crate) async fn stuck(house: House, mut random: Random) {
    let tasks: Vec<_> = (0..random.within(1..6))
        .map(|_| {
            let mut random = random.fork();
            house.spawn(async move {
                for _ in 0..random.within(1..4) {
                    thread::sleep(random.micros(0..30_000));
                    count(&LEDGER.stuck, 1);
                    sleep(random.micros(0..1000)).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.join().await;
    }
}

/// Tasks that block and say so, and await a task inside.
pub(crate) async fn in_place(house: House, mut random: Random) {
    for _ in 0..random.within(1..5) {
        let pause = random.micros(0..3000);
        let (ours, inner) = (house.clone(), house.has_spares() && random.chance(50));
        let task = house.spawn(async move {
            block_in_place(|| {
                thread::sleep(pause);
                if inner {
                    let task = ours.spawn(async move { sleep(pause).await });
                    ours.handle().block_on(task.join());
                }
            });
            count(&LEDGER.stuck, 1);
            windlass::yield_now().await;
        });
        task.join().await;
    }
}
