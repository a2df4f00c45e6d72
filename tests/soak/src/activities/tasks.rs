//! Tasks that spawn, abort and throw.

use std::future::pending;
use std::thread;

use windlass::timer::sleep;

use crate::house::{House, Watched, throw};
use crate::random::Random;

/// A tree of tasks, each of which awaits what it has spawned.
pub(crate) async fn trees(house: House, mut random: Random) {
    fn node(house: House, depth: usize, mut random: Random) -> Watched {
        let ours = house.clone();
        house.spawn(async move {
            let width = if depth == 0 { 0 } else { random.within(1..5) };
            let below: Vec<_> =
                (0..width).map(|_| node(ours.clone(), depth - 1, random.fork())).collect();
            if random.chance(20) {
                windlass::yield_now().await;
            }
            for task in below {
                task.join().await;
            }
        })
    }
    for _ in 0..random.within(1..6) {
        let depth = random.within(1..5);
        node(house.clone(), depth, random.fork()).join().await;
    }
}

/// Tasks that are aborted before, while and after they run.
pub(crate) async fn aborts(house: House, mut random: Random) {
    for _ in 0..random.within(10..100) {
        let mut inner = random.fork();
        let task = house.spawn(async move {
            for _ in 0..inner.within(0..4) {
                match inner.within(0..3) {
                    0 => windlass::yield_now().await,
                    1 => sleep(inner.micros(0..300)).await,
                    _ => drop(windlass::resume_on_pool().await),
                }
            }
            if inner.chance(20) {
                pending::<()>().await;
            }
        });
        let (abort, _guard) = (task.abort_handle(), task.guard());
        match random.within(0..4) {
            0 => abort.abort(),
            1 => {
                drop(task);
                sleep(random.micros(0..500)).await;
                abort.abort();
                continue;
            }
            2 => {
                sleep(random.micros(0..500)).await;
                abort.abort();
            }
            _ => {
                // From another thread, while it runs.
                let aborter = house.spawn_blocking(move || abort.abort());
                aborter.join().await;
            }
        }
        if !random.chance(20) {
            task.join().await;
        }
    }
}

/// Tasks that panic, in a poll or in the drop of what they hold.
pub(crate) async fn throwers(house: House, mut random: Random) {
    struct ThrowOnDrop;
    impl Drop for ThrowOnDrop {
        fn drop(&mut self) {
            if !thread::panicking() {
                throw();
            }
        }
    }
    for _ in 0..random.within(5..50) {
        let pause = random.micros(0..300);
        let sleeps = random.chance(30);
        let task = house.spawn_thrower(async move {
            if sleeps {
                sleep(pause).await;
            }
        });
        if random.chance(50) {
            task.join().await;
        }
        // Not watched: whether it ends by its panic or by the abort is a matter of time.
        let handle = house.handle().spawn(async move {
            let _held = ThrowOnDrop;
            windlass::yield_now().await;
        });
        if random.chance(30) {
            handle.abort();
        }
        house.check(handle.await.is_err(), "the panic of a destructor got lost");
    }
}

/// Threads outside of the pool that spawn tasks and wait for them.
pub(crate) async fn outside_threads(house: House, mut random: Random) {
    let threads: Vec<_> = (0..random.within(1..4))
        .map(|_| {
            let (ours, mut random) = (house.clone(), random.fork());
            thread::spawn(move || {
                for _ in 0..random.within(1..30) {
                    let pause = random.micros(0..200);
                    let task = ours.spawn(async move { sleep(pause).await });
                    if random.chance(60) {
                        let ours = ours.clone();
                        ours.handle().block_on(task.join());
                    }
                }
            })
        })
        .collect();
    let waiting = house.spawn_blocking(move || {
        for thread in threads {
            thread.join().unwrap_or_else(|_| crate::ledger::fail("an outside thread has panicked"));
        }
    });
    waiting.join().await;
}

/// Tasks that stay on one thread.
pub(crate) async fn pinned(house: House, mut random: Random) {
    for _ in 0..random.within(1..10) {
        let (ours, mut inner) = (house.clone(), random.fork());
        let task = house.spawn_pinned(move || async move {
            let thread = thread::current().id();
            for _ in 0..inner.within(1..10) {
                match inner.within(0..2) {
                    0 => windlass::yield_now().await,
                    _ => sleep(inner.micros(0..300)).await,
                }
                ours.always(thread == thread::current().id(), "a pinned task has moved");
            }
        });
        if random.chance(50) {
            task.join().await;
        }
    }
}
