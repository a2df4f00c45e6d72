//! Fork-join: the right result, from tasks, from computations and from outside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use windlass::{compute, join, par, scope};

use crate::house::{House, ended, throw};
use crate::ledger::{LEDGER, count};
use crate::random::Random;

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn plain_fib(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// Computations that are awaited.
pub(crate) async fn joins(house: House, mut random: Random) {
    for _ in 0..random.within(1..6) {
        let n = random.within(5..19) as u64;
        let Some(result) = ended(&house, compute(move || fib(n)).await) else { return };
        house.always(result == plain_fib(n), "a computation with a wrong result");
        count(&LEDGER.computations, 1);
    }
}

/// Scopes whose jobs borrow and spawn.
pub(crate) async fn scopes(house: House, mut random: Random) {
    for _ in 0..random.within(1..6) {
        let (width, depth) = (random.within(1..30), random.within(0..4));
        let counted = compute(move || {
            let jobs = AtomicUsize::new(0);
            scope(|s| {
                for _ in 0..width {
                    s.spawn(|s| {
                        jobs.fetch_add(1, Relaxed);
                        for _ in 0..depth {
                            s.spawn(|_| {
                                jobs.fetch_add(fib(5) as usize, Relaxed);
                            });
                        }
                    });
                }
            });
            jobs.into_inner()
        });
        let Some(jobs) = ended(&house, counted.await) else { return };
        house.always(jobs == width * (1 + 5 * depth), "a scope that has lost a job");
        count(&LEDGER.computations, 1);
    }
}

/// Sorts and sums over slices.
pub(crate) async fn sorts(house: House, mut random: Random) {
    let items = random.within(1..60_000);
    let mut numbers: Vec<u64> = (0..items).map(|_| random.next() >> 20).collect();
    let sum = numbers.iter().sum::<u64>();
    let sorted = compute(move || {
        par::sort_unstable(&mut numbers);
        let sum = par::map_reduce(&numbers, |&number| number, |a, b| a + b);
        (numbers.is_sorted(), sum)
    });
    let Some(result) = ended(&house, sorted.await) else { return };
    house.always(result == (true, Some(sum)), "a sort that has lost something");
    count(&LEDGER.computations, 1);
}

/// Computations that panic, on either side, after all that they have begun.
pub(crate) async fn throwers(house: House, mut random: Random) {
    for _ in 0..random.within(1..10) {
        let side = random.within(0..4);
        let caught = compute(move || {
            let alive = AtomicUsize::new(0);
            let job = |throws: bool| {
                alive.fetch_add(1, Relaxed);
                fib(8);
                alive.fetch_sub(1, Relaxed);
                if throws {
                    throw();
                }
            };
            let result = catch_unwind(AssertUnwindSafe(|| match side {
                0 => drop(join(|| job(true), || job(false))),
                1 => drop(join(|| job(false), || job(true))),
                2 => drop(join(|| job(true), || job(true))),
                _ => scope(|s| {
                    for number in 0..8 {
                        s.spawn(move |_| job(number == 3));
                    }
                }),
            }));
            (result.is_err(), alive.into_inner())
        });
        let Some(result) = ended(&house, caught.await) else { return };
        house.always(result == (true, 0), "a panic that overtakes a job");
        count(&LEDGER.computations, 1);
        let thrown = compute(|| throw()).await;
        house.check(thrown.is_err_and(|error| error.is_panic()), "a panic that got lost");
    }
}

/// Threads outside of the pool that take part in their own computations.
pub(crate) async fn guests(house: House, mut random: Random) {
    let guests: Vec<_> = (0..random.within(1..3))
        .map(|_| {
            let (ours, mut random) = (house.clone(), random.fork());
            std::thread::spawn(move || {
                let _entered = ours.handle().enter();
                for _ in 0..random.within(1..4) {
                    let n = random.within(5..17) as u64;
                    let right = if random.chance(50) {
                        fib(n) == plain_fib(n)
                    } else {
                        ours.handle().install(|| fib(n)) == plain_fib(n)
                    };
                    ours.always(right, "a guest with a wrong result");
                    count(&LEDGER.computations, 1);
                }
            })
        })
        .collect();
    let waiting = house.spawn_blocking(move || {
        for guest in guests {
            guest.join().unwrap_or_else(|_| crate::ledger::fail("a guest has panicked"));
        }
    });
    waiting.join().await;
}
