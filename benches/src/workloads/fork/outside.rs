//! Fork-join from a thread that is not of the pool: each call enters the pool and leaves it again.

use std::hint::black_box;
use std::num::NonZero;

use super::pool::{Chili, ForkPeer, Forks, Rayon};
use super::{Node, sum, timed};
use crate::measure::{Budget, Metrics, passes};
use crate::peers::WORKERS;
use crate::workloads::{Aim, Row, Workload};

macro_rules! outside {
    ($run:ident) => {
        &[(Rayon::NAME, $run::<Rayon>), (Chili::NAME, $run::<Chili>), (Forks::NAME, $run::<Forks>)]
    };
}

pub(in crate::workloads) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "outside_join",
        about: "a join of two small sums, from a thread outside the pool",
        base: "rayon",
        rows: &[Row::time("µs").scaled(1e3).aim(Aim::Ratio(0.1))],
        peers: outside!(join),
    },
    Workload {
        name: "outside_tree_10",
        about: "sum over a tree of 1,023 nodes, from a thread outside the pool",
        base: "rayon",
        rows: &[Row::time("µs").scaled(1e3).aim(Aim::Ratio(0.3))],
        peers: outside!(tree),
    },
];

/// A pool that a thread outside of it can call again and again.
pub(super) trait Outside: ForkPeer {
    type Pool;

    fn pool() -> Self::Pool;

    /// Calls the pool.
    fn call<R: Send>(pool: &Self::Pool, f: impl FnOnce(&mut Self::Scope<'_>) -> R + Send) -> R;
}

impl Outside for Rayon {
    type Pool = rayon::ThreadPool;

    fn pool() -> rayon::ThreadPool {
        Rayon::pool()
    }

    fn call<R: Send>(pool: &rayon::ThreadPool, f: impl FnOnce(&mut ()) -> R + Send) -> R {
        pool.install(|| f(&mut ()))
    }
}

impl Outside for Chili {
    type Pool = chili::ThreadPool;

    fn pool() -> chili::ThreadPool {
        let thread_count = NonZero::new(WORKERS);
        chili::ThreadPool::with_config(chili::Config { thread_count, ..chili::Config::default() })
    }

    fn call<R: Send>(
        pool: &chili::ThreadPool,
        f: impl FnOnce(&mut chili::Scope<'_>) -> R + Send,
    ) -> R {
        f(&mut pool.scope())
    }
}

impl Outside for Forks {
    type Pool = windlass::Runtime;

    fn pool() -> windlass::Runtime {
        windlass::Builder::new().workers(WORKERS).build().expect("windlass starts")
    }

    /// Whoever has entered the runtime, as `main` does, calls `join` and the like as they are.
    fn call<R: Send>(pool: &windlass::Runtime, f: impl FnOnce(&mut ()) -> R + Send) -> R {
        let _entered = pool.enter();
        f(&mut ())
    }
}

const TIMES: usize = 200;

fn join<P: Outside>(budget: &Budget) -> Metrics {
    let pool = P::pool();
    passes(budget, || {
        timed(TIMES, || {
            for number in 0..TIMES as u64 {
                let small =
                    |number: u64| (0..black_box(16)).fold(number, |sum, x| sum ^ (sum << 1) ^ x);
                black_box(P::call(&pool, |scope| {
                    P::join(scope, |_| small(number), |_| small(number + 1))
                }));
            }
        })
    })
}

fn tree<P: Outside>(budget: &Budget) -> Metrics {
    let root = Node::new(10);
    let pool = P::pool();
    passes(budget, || {
        timed(TIMES, || {
            for _ in 0..TIMES {
                black_box(P::call(&pool, |scope| sum::<P>(scope, black_box(&root))));
            }
        })
    })
}
