//! The game of life on a board whose edges meet.

use std::hint::black_box;

use super::super::outside::Outside;
use super::super::pool::ForkPeer;
use super::super::timed;
use super::each;
use crate::measure::{Budget, Metrics, passes};

const SIDE: usize = 200;
const GENERATIONS: usize = 100;

/// Rows that one job computes.
const GRAIN: usize = 4;

type Row = [bool; SIDE];

struct Board {
    rows: Vec<Row>,
    /// The last generation, to be written over.
    spare: Vec<Row>,
}

impl Board {
    /// Cells that look random and are the same each time.
    fn new() -> Board {
        let mut x = 0x2545_f491_u32;
        let mut next = || {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x % 3 == 0
        };
        let rows: Vec<Row> = (0..SIDE).map(|_| std::array::from_fn(|_| next())).collect();
        Board { spare: rows.clone(), rows }
    }

    fn advance<P: ForkPeer>(&mut self, scope: &mut P::Scope<'_>) {
        let rows = &self.rows;
        each::<P, _, _>(scope, 0, &mut self.spare, GRAIN, &|place, row: &mut Row| {
            let above = &rows[(place + SIDE - 1) % SIDE];
            let below = &rows[(place + 1) % SIDE];
            *row = next_row(above, &rows[place], below);
        });
        std::mem::swap(&mut self.rows, &mut self.spare);
    }
}

fn next_row(above: &Row, row: &Row, below: &Row) -> Row {
    std::array::from_fn(|column| {
        let (left, right) = ((column + SIDE - 1) % SIDE, (column + 1) % SIDE);
        let around = |row: &Row| u8::from(row[left]) + u8::from(row[right]);
        let middle = |row: &Row| u8::from(row[column]);
        let living = around(above) + middle(above) + around(row) + around(below) + middle(below);
        living == 3 || (living == 2 && row[column])
    })
}

pub(super) fn inside<P: ForkPeer>(budget: &Budget) -> Metrics {
    P::run(|scope| {
        passes(budget, || {
            let mut board = Board::new();
            timed(1, || {
                for _ in 0..GENERATIONS {
                    board.advance::<P>(scope);
                }
                black_box(&board.rows);
            })
        })
    })
}

pub(super) fn outside<P: Outside>(budget: &Budget) -> Metrics {
    let pool = P::pool();
    passes(budget, || {
        let mut board = Board::new();
        timed(1, || {
            for _ in 0..GENERATIONS {
                P::call(&pool, |scope| board.advance::<P>(scope));
            }
            black_box(&board.rows);
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::pool::Sequential;
    use super::*;

    #[test]
    fn three_in_a_row_turn() {
        let mut rows = vec![[false; SIDE]; SIDE];
        rows[5][9..12].fill(true);
        let mut board = Board { spare: rows.clone(), rows };
        board.advance::<Sequential>(&mut ());
        let living: Vec<(usize, usize)> = (0..SIDE * SIDE)
            .map(|cell| (cell / SIDE, cell % SIDE))
            .filter(|&(row, column)| board.rows[row][column])
            .collect();
        assert_eq!(living, [(4, 10), (5, 10), (6, 10)]);
    }
}
