//! Fork-join: fine and coarse recursion, nested scopes, a parallel sort; and echo beside it.

mod kernels;
mod leaves;
mod mixed;
mod outside;
mod par;
mod pool;

use std::hint::black_box;
use std::time::Instant;

use super::{Aim, Row, Run, Workload};
use crate::measure::{Budget, Metrics, Pass, passes};
use pool::{Chili, ForkPeer, Forks, Forte, Rayon, Sequential, Unobserved};

pub(super) use kernels::WORKLOADS as KERNELS;
pub(super) use leaves::WORKLOADS as LEAVES;
pub(super) use mixed::WORKLOADS as MIXED;
pub(super) use outside::WORKLOADS as OUTSIDE;
pub(super) use par::WORKLOADS as PAR;

macro_rules! fork_peers {
    ($run:ident $(, $constant:literal)*) => {
        &[
            (Sequential::NAME, $run::<Sequential $(, $constant)*>),
            (Rayon::NAME, $run::<Rayon $(, $constant)*>),
            (Chili::NAME, $run::<Chili $(, $constant)*>),
            (Forte::NAME, $run::<Forte $(, $constant)*>),
            (Forks::NAME, $run::<Forks $(, $constant)*>),
        ]
    };
}

/// fib(32), without observation and with it.
pub(super) const OBSERVED: &[(&str, Run)] =
    &[(Unobserved::NAME, fibonacci::<Unobserved, 32>), (Forks::NAME, fibonacci::<Forks, 32>)];

pub(super) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "fork_fib_32",
        about: "fib(32) with a join for each call",
        base: "rayon",
        rows: &[Row::time("ms").scaled(1e6).aim(Aim::Ratio(0.45))],
        peers: fork_peers!(fibonacci, 32),
    },
    Workload {
        name: "fork_tree_22",
        about: "sum over a binary tree of 2^22 nodes",
        base: "rayon",
        rows: &[Row::time("ms").scaled(1e6).aim(Aim::Ratio(0.6))],
        peers: fork_peers!(tree, 22),
    },
    Workload {
        name: "fork_tree_10",
        about: "sum over a binary tree of 2^10 nodes",
        base: "rayon",
        rows: &[Row::time("µs").scaled(1e3).aim(Aim::Ratio(0.45))],
        peers: fork_peers!(tree, 10),
    },
    Workload {
        name: "fork_quicksort",
        about: "quicksort of 10M u32 with a serial partition",
        base: "rayon",
        rows: &[Row::time("ms").scaled(1e6).aim(Aim::Ratio(1.03))],
        peers: fork_peers!(quicksort),
    },
    Workload {
        name: "fork_scopes",
        about: "100k jobs spawned in a scope by jobs of that scope; per job",
        base: "rayon",
        rows: &[Row::time("ns/job").aim(Aim::Ratio(0.85))],
        peers: &[(Rayon::NAME, scopes_of_rayon), (Forks::NAME, scopes_of_windlass)],
    },
];

fn timed(ops: usize, f: impl FnOnce()) -> Pass {
    let began = Instant::now();
    f();
    Pass::new(ops, began.elapsed())
}

fn fib<P: ForkPeer>(scope: &mut P::Scope<'_>, n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = P::join(scope, |scope| fib::<P>(scope, n - 1), |scope| fib::<P>(scope, n - 2));
    a + b
}

fn fibonacci<P: ForkPeer, const N: u32>(budget: &Budget) -> Metrics {
    P::run(|scope| {
        passes(budget, || {
            timed(1, || {
                black_box(fib::<P>(scope, black_box(N)));
            })
        })
    })
}

/// A tree whose levels lie in memory one after the other, each from left to right. Peers differ in which
/// closure of a join they run first. Here a walk from the left goes forwards through each level, and one
/// from the right backwards, which takes as long; a tree that is allocated in the order of one of these
/// walks would measure that order, and not the joins.
struct Node {
    value: u64,
    children: Option<[Box<Node>; 2]>,
}

impl Node {
    fn new(levels: u32) -> Box<Node> {
        let leaf = || Box::new(Node { value: 1, children: None });
        let mut level: Vec<Box<Node>> = (0..1_usize << (levels - 1)).map(|_| leaf()).collect();
        for height in 2..=levels {
            let mut below = level.into_iter();
            let pairs = std::iter::from_fn(|| Some([below.next()?, below.next()?]));
            let parent = |pair| Box::new(Node { value: height.into(), children: Some(pair) });
            level = pairs.map(parent).collect();
        }
        level.pop().expect("one level at least")
    }
}

fn sum<P: ForkPeer>(scope: &mut P::Scope<'_>, node: &Node) -> u64 {
    let Some([left, right]) = &node.children else { return node.value };
    let (a, b) = P::join(scope, |scope| sum::<P>(scope, left), |scope| sum::<P>(scope, right));
    node.value + a + b
}

fn tree<P: ForkPeer, const LEVELS: u32>(budget: &Budget) -> Metrics {
    let root = Node::new(LEVELS);
    let times = (1 << 18_u32.saturating_sub(LEVELS)).max(1);
    P::run(|scope| {
        passes(budget, || {
            timed(times, || {
                for _ in 0..times {
                    black_box(sum::<P>(scope, black_box(&root)));
                }
            })
        })
    })
}

/// Numbers that look random and are the same each time.
fn numbers() -> Vec<u32> {
    let mut x = 0x2545_f491_u32;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    };
    (0..10_000_000).map(|_| next()).collect()
}

fn quick<P: ForkPeer>(scope: &mut P::Scope<'_>, items: &mut [u32]) {
    if items.len() <= 1 {
        return;
    }
    let last = items.len() - 1;
    items.swap(last / 2, last);
    let mut middle = 0;
    for i in 0..last {
        if items[i] <= items[last] {
            items.swap(middle, i);
            middle += 1;
        }
    }
    items.swap(middle, last);
    let (left, right) = items.split_at_mut(middle);
    let right = &mut right[1..];
    if last < 5_000 {
        quick::<P>(scope, left);
        quick::<P>(scope, right);
    } else {
        P::join(scope, |scope| quick::<P>(scope, left), |scope| quick::<P>(scope, right));
    }
}

fn quicksort<P: ForkPeer>(budget: &Budget) -> Metrics {
    let unsorted = numbers();
    P::run(|scope| {
        passes(budget, || {
            let mut items = unsorted.clone();
            timed(1, || quick::<P>(scope, &mut items))
        })
    })
}

/// So many jobs, each of which spawns as many.
const JOBS: usize = 316;

fn scopes_of_rayon(budget: &Budget) -> Metrics {
    let pass = || {
        timed(JOBS * JOBS, || {
            rayon::scope(|s| {
                for _ in 0..JOBS {
                    s.spawn(|s| {
                        (0..JOBS).for_each(|i| {
                            s.spawn(move |_| {
                                black_box(i);
                            })
                        })
                    });
                }
            });
        })
    };
    Rayon::run(|_| passes(budget, pass))
}

fn scopes_of_windlass(budget: &Budget) -> Metrics {
    let pass = || {
        timed(JOBS * JOBS, || {
            windlass::scope(|s| {
                for _ in 0..JOBS {
                    s.spawn(|s| {
                        (0..JOBS).for_each(|i| {
                            s.spawn(move |_| {
                                black_box(i);
                            })
                        })
                    });
                }
            });
        })
    };
    Forks::run(|_| passes(budget, pass))
}
