//! A product of two square matrices, parallel over its rows.

use std::hint::black_box;

use rayon::prelude::*;

use super::{Kernel, timed};

const SIDE: usize = 256;

pub(super) const MATMUL: Kernel = Kernel {
    name: "matmul",
    about: "product of two matrices of 256 × 256",
    prepare: || {
        let (a, b, mut product) = (matrix(3), matrix(11), vec![0.0; SIDE * SIDE]);
        Box::new(move || {
            timed(|| {
                multiply(black_box(&a), black_box(&b), &mut product);
                black_box(&product);
            })
        })
    },
};

/// Small whole numbers, so that sums are exact.
fn matrix(seed: usize) -> Vec<f32> {
    (0..SIDE * SIDE).map(|place| ((place / SIDE * 5 + place % SIDE * seed) % 7) as f32).collect()
}

fn multiply(a: &[f32], b: &[f32], product: &mut [f32]) {
    let rows = product.par_chunks_mut(SIDE).zip(a.par_chunks(SIDE));
    rows.for_each(|(row, factors)| multiply_row(factors, b, row));
}

#[inline(never)]
fn multiply_row(factors: &[f32], b: &[f32], row: &mut [f32]) {
    row.fill(0.0);
    for (factor, other) in factors.iter().zip(b.chunks(SIDE)) {
        for (sum, value) in row.iter_mut().zip(other) {
            *sum += factor * value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_the_sum_of_its_products() {
        let (a, b, mut product) = (matrix(3), matrix(11), vec![0.0; SIDE * SIDE]);
        multiply(&a, &b, &mut product);
        let expected: f32 = (0..SIDE).map(|k| a[17 * SIDE + k] * b[k * SIDE + 200]).sum();
        assert_eq!(product[17 * SIDE + 200], expected);
    }
}
