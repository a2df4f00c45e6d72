//! A product of two square matrices: the rows of the result in halves, and its columns in blocks that the
//! nearest cache holds.

use std::hint::black_box;

use super::super::pool::ForkPeer;
use super::super::timed;
use super::each;
use crate::measure::{Budget, Metrics, passes};

const SIDE: usize = 256;

/// Rows that one job computes.
const GRAIN: usize = 8;

type Row = [f32; SIDE];

/// Small whole numbers, so that the sums are exact in any order.
fn matrix(seed: usize) -> Vec<Row> {
    let cell = |row: usize, column: usize| ((row * 7 + column * seed) % 5) as f32;
    (0..SIDE).map(|row| std::array::from_fn(|column| cell(row, column))).collect()
}

fn product<P: ForkPeer>(scope: &mut P::Scope<'_>, a: &[Row], b: &[Row], to: &mut [Row]) {
    each::<P, _, _>(scope, 0, to, GRAIN, &|place, row: &mut Row| {
        row.fill(0.0);
        for (factor, other) in a[place].iter().zip(b) {
            for (sum, value) in row.iter_mut().zip(other) {
                *sum += factor * value;
            }
        }
    });
}

pub(super) fn inside<P: ForkPeer>(budget: &Budget) -> Metrics {
    let (a, b, mut to) = (matrix(3), matrix(11), vec![[0.0; SIDE]; SIDE]);
    P::run(|scope| {
        passes(budget, || {
            timed(1, || {
                product::<P>(scope, black_box(&a), black_box(&b), &mut to);
                black_box(&to);
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::pool::Sequential;
    use super::*;

    #[test]
    fn a_cell_is_the_sum_of_its_products() {
        let (a, b, mut to) = (matrix(3), matrix(11), vec![[0.0; SIDE]; SIDE]);
        product::<Sequential>(&mut (), &a, &b, &mut to);
        let expected: f32 = (0..SIDE).map(|k| a[17][k] * b[k][200]).sum();
        assert_eq!(to[17][200], expected);
    }
}
