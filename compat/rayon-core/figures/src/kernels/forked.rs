//! Recursion with `join`, coarse and fine, and jobs in a scope.

use std::hint::black_box;

use super::{Kernel, numbers, timed};

pub(super) const QUICKSORT: Kernel = Kernel {
    name: "quicksort",
    about: "quicksort of 4M u32 with a serial partition, joined",
    prepare: || {
        let items = numbers(4_000_000);
        Box::new(move || {
            let mut items = items.clone();
            timed(|| quicksort(black_box(&mut items)))
        })
    },
};

/// What is sorted without a further split.
const SMALL: usize = 2_000;

fn quicksort(items: &mut [u32]) {
    if items.len() <= SMALL {
        items.sort_unstable();
        return;
    }
    let place = partition(items);
    let (low, high) = items.split_at_mut(place);
    rayon::join(|| quicksort(low), || quicksort(&mut high[1..]));
}

/// Moves what is less than the pivot before it, and returns its place.
#[inline(never)]
fn partition(items: &mut [u32]) -> usize {
    let (middle, last) = (items.len() / 2, items.len() - 1);
    // The median of three, to the end.
    if items[middle] < items[0] {
        items.swap(middle, 0);
    }
    if items[last] < items[0] {
        items.swap(last, 0);
    }
    if items[middle] < items[last] {
        items.swap(middle, last);
    }
    let pivot = items[last];
    let mut place = 0;
    for next in 0..last {
        let is_less = items[next] < pivot;
        items.swap(next, place);
        place += usize::from(is_less);
    }
    items.swap(place, last);
    place
}

pub(super) const MERGESORT: Kernel = Kernel {
    name: "mergesort",
    about: "mergesort of 4M u32 with a merge that is joined too",
    prepare: || {
        let items = numbers(4_000_000);
        let mut space = vec![0; items.len()];
        Box::new(move || {
            let mut items = items.clone();
            timed(|| mergesort(black_box(&mut items), &mut space))
        })
    },
};

/// Sorts `items`, with as much space.
fn mergesort(items: &mut [u32], space: &mut [u32]) {
    if items.len() <= SMALL {
        items.sort_unstable();
        return;
    }
    let middle = items.len() / 2;
    {
        let (low, high) = items.split_at_mut(middle);
        let (low_space, high_space) = space.split_at_mut(middle);
        rayon::join(|| mergesort(low, low_space), || mergesort(high, high_space));
    }
    space.copy_from_slice(items);
    let (low, high) = space.split_at(middle);
    merge(low, high, items);
}

fn merge(low: &[u32], high: &[u32], to: &mut [u32]) {
    if to.len() <= 4 * SMALL || low.len() < high.len() / 8 || high.len() < low.len() / 8 {
        return merge_here(low, high, to);
    }
    // Half of the longer one, and what is less in the other.
    let (a, b) = if low.len() >= high.len() {
        let a = low.len() / 2;
        (a, high.partition_point(|item| *item < low[a]))
    } else {
        let b = high.len() / 2;
        (low.partition_point(|item| *item <= high[b]), b)
    };
    let ((low, low_rest), (high, high_rest)) = (low.split_at(a), high.split_at(b));
    let (to, to_rest) = to.split_at_mut(a + b);
    rayon::join(|| merge(low, high, to), || merge(low_rest, high_rest, to_rest));
}

#[inline(never)]
fn merge_here(low: &[u32], high: &[u32], to: &mut [u32]) {
    let (mut a, mut b) = (0, 0);
    for place in to {
        let takes_low = b == high.len() || (a < low.len() && low[a] <= high[b]);
        *place = if takes_low { low[a] } else { high[b] };
        a += usize::from(takes_low);
        b += usize::from(!takes_low);
    }
}

pub(super) const FIB: Kernel = Kernel {
    name: "fib",
    about: "fib(30), a join for each call",
    prepare: || {
        Box::new(|| {
            timed(|| {
                black_box(fib(black_box(30)));
            })
        })
    },
};

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

pub(super) const JOINS: Kernel = Kernel {
    name: "joins_outside",
    about: "500 joins of two small sums, each from outside of the pool",
    prepare: || {
        Box::new(|| {
            timed(|| {
                for number in 0..500_u64 {
                    let small = |number: u64| {
                        (0..black_box(16)).fold(number, |sum, x| sum ^ (sum << 1) ^ x)
                    };
                    black_box(rayon::join(|| small(number), || small(number + 1)));
                }
            })
        })
    },
};

pub(super) const JOBS: Kernel = Kernel {
    name: "jobs",
    about: "a scope in which 300 jobs spawn 300 each",
    prepare: || {
        Box::new(|| {
            timed(|| {
                rayon::scope(|scope| {
                    for _ in 0..300 {
                        scope.spawn(|scope| {
                            for number in 0..300 {
                                scope.spawn(move |_| {
                                    black_box(number);
                                });
                            }
                        });
                    }
                });
            })
        })
    },
};

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    fn sorted() -> Vec<u32> {
        let mut expected = numbers(100_000);
        expected.sort_unstable();
        expected
    }

    #[test]
    fn both_sorts_sort() {
        let mut items = numbers(100_000);
        quicksort(&mut items);
        assert_eq!(items, sorted());
        let mut items = numbers(100_000);
        mergesort(&mut items, &mut vec![0; 100_000]);
        assert_eq!(items, sorted());
        // What comes in order is no worse.
        quicksort(&mut items);
        mergesort(&mut items, &mut vec![0; 100_000]);
        assert!(items.par_iter().eq(sorted().par_iter()));
    }

    #[test]
    fn fib_adds_up() {
        assert_eq!(fib(20), 6_765);
    }
}
