//! What is computed. Each kernel is called from `main`, as most programs call rayon: from outside of its pool.
//!
//! What is done for an item that takes some time is a function that is not inlined: else the compiler might make
//! something else of it on one core than on the other, and that would be compared.

mod forked;
mod iterated;
mod life;
mod matmul;
mod nbody;

use std::time::{Duration, Instant};

/// Something to compute, again and again.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Prepares the input. Each call of the result computes once, and says how long that took.
    pub(crate) prepare: fn() -> Pass,
}

pub(crate) type Pass = Box<dyn FnMut() -> Duration>;

pub(crate) const ALL: &[Kernel] = &[
    iterated::MAP_SUM,
    iterated::COLLECT,
    iterated::FILTER,
    iterated::SORT,
    iterated::BRIDGE,
    life::ROWS,
    life::CELLS,
    nbody::NBODY,
    matmul::MATMUL,
    forked::QUICKSORT,
    forked::MERGESORT,
    forked::FIB,
    forked::JOINS,
    forked::JOBS,
];

fn timed(f: impl FnOnce()) -> Duration {
    let began = Instant::now();
    f();
    began.elapsed()
}

/// Numbers that look random and are the same each time.
fn numbers(count: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..count).map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_names_of_their_own() {
        for (place, kernel) in ALL.iter().enumerate() {
            assert!(ALL[..place].iter().all(|other| other.name != kernel.name));
        }
    }

    #[test]
    fn numbers_are_the_same_each_time() {
        assert_eq!(numbers(100), numbers(100));
        assert_ne!(numbers(2)[0], numbers(2)[1]);
    }
}
