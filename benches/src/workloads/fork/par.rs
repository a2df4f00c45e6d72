//! The data-parallel helpers beside rayon's: reduce, collect, change in place, chunks, sort.

use std::hint::black_box;

use rayon::iter::IntoParallelRefMutIterator;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use super::pool::{ForkPeer, Forks, Rayon, Sequential};
use super::{numbers, timed};
use crate::measure::{Budget, Metrics, passes};
use crate::workloads::{Aim, Row, Workload};

/// The three ways to do the same.
macro_rules! ways {
    ($run:ident: $sequential:expr, $rayon:expr, $windlass:expr $(,)?) => {
        &[
            (Sequential::NAME, |budget| $run::<Sequential>(budget, $sequential)),
            (Rayon::NAME, |budget| $run::<Rayon>(budget, $rayon)),
            (Forks::NAME, |budget| $run::<Forks>(budget, $windlass)),
        ]
    };
}

const TIME: Row = Row::time("ms").scaled(1e6);

pub(in crate::workloads) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "fork_par_reduce",
        about: "map 2M u32 and reduce to a sum (par::map_reduce; rayon: map, reduce)",
        base: "rayon",
        rows: &[TIME],
        peers: ways!(read:
            |items| sink(items.iter().map(|&x| mixed(x)).fold(0, u64::wrapping_add)),
            |items| sink(items.par_iter().map(|&x| mixed(x)).reduce(|| 0, u64::wrapping_add)),
            |items| sink(windlass::par::map_reduce(items, |&x| mixed(x), u64::wrapping_add)),
        ),
    },
    Workload {
        name: "fork_par_collect",
        about: "map 2M u32 into a new vector of u64 (par::map_collect; rayon: map, collect)",
        base: "rayon",
        rows: &[TIME],
        peers: ways!(read:
            |items| sink(items.iter().map(|&x| mixed(x)).collect::<Vec<u64>>()),
            |items| sink(items.par_iter().map(|&x| mixed(x)).collect::<Vec<u64>>()),
            |items| sink(windlass::par::map_collect(items, |&x| mixed(x))),
        ),
    },
    Workload {
        name: "fork_par_for_each",
        about: "change each of 2M u32 (par::for_each_mut; rayon: par_iter_mut, for_each)",
        base: "rayon",
        rows: &[TIME],
        peers: ways!(change:
            |items| items.iter_mut().for_each(step),
            |items| items.par_iter_mut().for_each(step),
            |items| windlass::par::for_each_mut(items, step),
        ),
    },
    Workload {
        name: "fork_par_chunks",
        about: "change 2M u32 in chunks of 1,000 (par::chunks_mut; rayon: par_chunks_mut)",
        base: "rayon",
        rows: &[TIME],
        peers: ways!(change:
            |items| items.chunks_mut(1_000).enumerate().for_each(|(n, chunk)| steps(n, chunk)),
            |items| items.par_chunks_mut(1_000).enumerate().for_each(|(n, chunk)| steps(n, chunk)),
            |items| windlass::par::chunks_mut(items, 1_000, steps),
        ),
    },
    Workload {
        name: "fork_par_sort",
        about: "the library's unstable sort of 10M u32 (std's for sequential)",
        base: "rayon",
        rows: &[TIME.aim(Aim::Ratio(1.1))],
        peers: ways!(sort:
            <[u32]>::sort_unstable,
            <[u32]>::par_sort_unstable,
            windlass::par::sort_unstable,
        ),
    },
];

/// How many of the numbers.
const ITEMS: usize = 2_000_000;

fn sink<T>(value: T) {
    black_box(value);
}

/// Some ten nanoseconds of work: with less, the memory is what one waits for, and there is nothing to
/// gain from a second core.
fn mixed(x: u32) -> u64 {
    (0..4).fold(u64::from(x), |x, _| {
        let x = x.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    })
}

fn step(x: &mut u32) {
    *x = mixed(*x) as u32;
}

fn steps(number: usize, chunk: &mut [u32]) {
    for x in chunk {
        *x ^= number as u32;
        step(x);
    }
}

/// What only reads.
fn read<P: ForkPeer>(budget: &Budget, read: fn(&[u32])) -> Metrics {
    let items = &numbers()[..ITEMS];
    P::run(|_| passes(budget, || timed(1, || read(black_box(items)))))
}

/// What may be done to the same numbers again and again.
fn change<P: ForkPeer>(budget: &Budget, change: fn(&mut [u32])) -> Metrics {
    let items = &mut numbers()[..ITEMS];
    P::run(|_| passes(budget, || timed(1, || change(black_box(items)))))
}

/// What needs its numbers in disorder.
fn sort<P: ForkPeer>(budget: &Budget, sort: fn(&mut [u32])) -> Metrics {
    let unsorted = numbers();
    P::run(|_| {
        passes(budget, || {
            let mut items = unsorted.clone();
            timed(1, || sort(&mut items))
        })
    })
}
