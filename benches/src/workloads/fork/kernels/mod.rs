//! Kernels as demonstrations of fork-join have them, the same code under every peer: the game of life, a product
//! of matrices, and bodies that attract each other.

mod life;
mod matmul;
mod nbody;

use super::pool::{ForkPeer, Forks, Rayon, Sequential};
use crate::workloads::{Aim, Row, Workload};

const LIFE: &[Row] = &[Row::time("ms").scaled(1e6).aim(Aim::Ratio(1.0))];
/// Coarser, so that nobody can be much better than the other.
const COARSE: &[Row] = &[Row::time("ms").scaled(1e6).aim(Aim::Ratio(1.03))];

macro_rules! kernel_peers {
    ($run:path) => {{
        use $run as run;
        &[
            (Sequential::NAME, run::<Sequential>),
            (Rayon::NAME, run::<Rayon>),
            (Forks::NAME, run::<Forks>),
        ]
    }};
}

pub(in crate::workloads) const WORKLOADS: &[Workload] = &[
    Workload {
        name: "kernel_life",
        about: "100 generations of the game of life on 200 × 200 cells, a join tree over the rows of each",
        base: "rayon",
        rows: LIFE,
        peers: kernel_peers!(life::inside),
    },
    Workload {
        name: "kernel_life_outside",
        about: "the same from a thread outside the pool, each generation a call",
        base: "rayon",
        rows: LIFE,
        peers: &[(Rayon::NAME, life::outside::<Rayon>), (Forks::NAME, life::outside::<Forks>)],
    },
    Workload {
        name: "kernel_matmul",
        about: "product of two matrices of 256 × 256, split into quarters",
        base: "rayon",
        rows: COARSE,
        peers: kernel_peers!(matmul::inside),
    },
    Workload {
        name: "kernel_nbody",
        about: "10 steps of 500 bodies that attract each other",
        base: "rayon",
        rows: COARSE,
        peers: kernel_peers!(nbody::inside),
    },
];

/// Does something for each item, in halves down to pieces of `grain`.
fn each<P, T, F>(scope: &mut P::Scope<'_>, first: usize, items: &mut [T], grain: usize, f: &F)
where
    P: ForkPeer,
    T: Send,
    F: Fn(usize, &mut T) + Sync,
{
    if items.len() <= grain {
        for (place, item) in items.iter_mut().enumerate() {
            f(first + place, item);
        }
        return;
    }
    let middle = items.len() / 2;
    let (left, right) = items.split_at_mut(middle);
    P::join(
        scope,
        |scope| each::<P, T, F>(scope, first, left, grain, f),
        |scope| each::<P, T, F>(scope, first + middle, right, grain, f),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_met_once_and_in_its_place() {
        let mut items = vec![0; 37];
        Sequential::run(|scope| {
            each::<Sequential, _, _>(scope, 0, &mut items, 4, &|place, item| *item += place);
        });
        assert_eq!(items, (0..37).collect::<Vec<_>>());
    }
}
