//! The game of life on a board whose edges meet: each generation is a call of its own.

use std::hint::black_box;

use rayon::prelude::*;

use super::{Kernel, numbers, timed};

const SIDE: usize = 200;
const GENERATIONS: usize = 50;

pub(super) const ROWS: Kernel = Kernel {
    name: "life",
    about: "50 generations of life on 200 × 200 cells, parallel over rows",
    prepare: || {
        let start = Board::new();
        Box::new(move || {
            let (mut now, mut then) = (start.clone(), start.clone());
            timed(|| {
                for _ in 0..GENERATIONS {
                    now.advance(&mut then);
                    std::mem::swap(&mut now, &mut then);
                }
                black_box(&now);
            })
        })
    },
};

pub(super) const CELLS: Kernel = Kernel {
    name: "life_cells",
    about: "the same, parallel over cells and collected",
    prepare: || {
        let start = Board::new();
        Box::new(move || {
            let mut board = start.clone();
            timed(|| {
                for _ in 0..GENERATIONS {
                    board = board.next();
                }
                black_box(&board);
            })
        })
    },
};

/// Cells that live, row by row.
#[derive(Clone, PartialEq, Debug)]
struct Board(Vec<bool>);

impl Board {
    fn new() -> Self {
        Self(numbers(SIDE * SIDE).into_iter().map(|number| number % 3 == 0).collect())
    }

    /// Writes the next generation over another board.
    fn advance(&self, then: &mut Board) {
        then.0.par_chunks_mut(SIDE).enumerate().for_each(|(row, cells)| {
            for (column, cell) in cells.iter_mut().enumerate() {
                *cell = self.lives(row, column);
            }
        });
    }

    /// The next generation, as a board of its own.
    fn next(&self) -> Board {
        let cells = (0..SIDE * SIDE).into_par_iter();
        Board(cells.map(|place| self.lives(place / SIDE, place % SIDE)).collect())
    }

    /// True if a cell lives in the next generation.
    #[inline(never)]
    fn lives(&self, row: usize, column: usize) -> bool {
        let around = |place: usize| [(place + SIDE - 1) % SIDE, place, (place + 1) % SIDE];
        let columns = around(column);
        let mut living = 0;
        for row in around(row) {
            for column in columns {
                living += u8::from(self.0[row * SIDE + column]);
            }
        }
        // The cell itself is among them.
        let lives = self.0[row * SIDE + column];
        living == 3 || (lives && living == 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_in_a_row_turn() {
        let mut board = Board(vec![false; SIDE * SIDE]);
        board.0[5 * SIDE + 9..5 * SIDE + 12].fill(true);
        let next = board.next();
        let living: Vec<usize> = (0..SIDE * SIDE).filter(|&place| next.0[place]).collect();
        assert_eq!(living, [4 * SIDE + 10, 5 * SIDE + 10, 6 * SIDE + 10]);
    }

    #[test]
    fn both_ways_come_to_the_same() {
        let board = Board::new();
        let mut then = board.clone();
        board.advance(&mut then);
        assert_eq!(then, board.next());
    }
}
