//! Iterators as they come: over a vector, into a vector, sorted, and from an iterator that is not parallel.

use std::hint::black_box;

use rayon::prelude::*;

use super::{Kernel, numbers, timed};

pub(super) const MAP_SUM: Kernel = Kernel {
    name: "map_sum",
    about: "map and sum over 10M u64",
    prepare: || {
        let items: Vec<u64> = (0..10_000_000).collect();
        Box::new(move || {
            timed(|| {
                black_box(items.par_iter().map(|item| item ^ (item >> 3)).sum::<u64>());
            })
        })
    },
};

pub(super) const COLLECT: Kernel = Kernel {
    name: "collect",
    about: "map over 4M u32, collected into a vector",
    prepare: || {
        let items = numbers(4_000_000);
        Box::new(move || {
            timed(|| {
                let doubled: Vec<u64> = items.par_iter().map(|&item| u64::from(item) * 2).collect();
                black_box(doubled);
            })
        })
    },
};

pub(super) const FILTER: Kernel = Kernel {
    name: "filter",
    about: "every third of 4M u32, whose number is not known before, collected",
    prepare: || {
        let items = numbers(4_000_000);
        Box::new(move || {
            timed(|| {
                let thirds: Vec<u32> =
                    items.par_iter().copied().filter(|item| item % 3 == 0).collect();
                black_box(thirds);
            })
        })
    },
};

pub(super) const SORT: Kernel = Kernel {
    name: "sort_unstable",
    about: "par_sort_unstable of 4M u32",
    prepare: || {
        let items = numbers(4_000_000);
        Box::new(move || {
            let mut items = items.clone();
            timed(|| black_box(&mut items).par_sort_unstable())
        })
    },
};

pub(super) const BRIDGE: Kernel = Kernel {
    name: "bridge",
    about: "par_bridge over 10k items of some 2 µs each",
    prepare: || {
        Box::new(|| {
            timed(|| {
                let sum = (0..10_000_u64).par_bridge().map(spun).reduce(|| 0, u64::wrapping_add);
                black_box(sum);
            })
        })
    },
};

/// Some work for a number.
#[inline(never)]
fn spun(number: u64) -> u64 {
    (0..black_box(1_000)).fold(number, |state, step| (state ^ step).rotate_left(7).wrapping_mul(5))
}
