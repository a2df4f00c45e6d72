//! Bodies that attract each other, all with all, parallel over the bodies.

use std::hint::black_box;

use rayon::prelude::*;

use super::{Kernel, numbers, timed};

const BODIES: usize = 500;
const STEPS: usize = 10;
const TIME: f64 = 0.01;

/// Keeps bodies that meet from throwing each other away.
const SOFTNESS: f64 = 0.05;

pub(super) const NBODY: Kernel = Kernel {
    name: "nbody",
    about: "10 steps of 500 bodies that attract each other",
    prepare: || {
        let start = bodies();
        Box::new(move || {
            let mut bodies = start.clone();
            timed(|| {
                for _ in 0..STEPS {
                    bodies = step(&bodies);
                }
                black_box(&bodies);
            })
        })
    },
};

#[derive(Clone, Copy)]
struct Body {
    position: [f64; 3],
    velocity: [f64; 3],
}

fn bodies() -> Vec<Body> {
    let scaled = |number: &u32| f64::from(*number) / f64::from(u32::MAX) - 0.5;
    let numbers = numbers(3 * BODIES);
    let positions = numbers.chunks(3).map(|at| [scaled(&at[0]), scaled(&at[1]), scaled(&at[2])]);
    positions.map(|position| Body { position, velocity: [0.0; 3] }).collect()
}

fn step(bodies: &[Body]) -> Vec<Body> {
    let moved = bodies.par_iter().map(|body| {
        let pull = attraction(body.position, bodies);
        let velocity = std::array::from_fn(|axis| body.velocity[axis] + TIME * pull[axis]);
        let position = std::array::from_fn(|axis| body.position[axis] + TIME * velocity[axis]);
        Body { position, velocity }
    });
    moved.collect()
}

#[inline(never)]
fn attraction(position: [f64; 3], bodies: &[Body]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for body in bodies {
        let away: [f64; 3] = std::array::from_fn(|axis| body.position[axis] - position[axis]);
        let square = away.iter().map(|distance| distance * distance).sum::<f64>() + SOFTNESS;
        let pull = 1.0 / (BODIES as f64 * square * square.sqrt());
        for (sum, away) in sum.iter_mut().zip(away) {
            *sum += pull * away;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_do_to_each_other_moves_no_centre() {
        let moved = step(&bodies());
        for axis in 0..3 {
            let momentum: f64 = moved.iter().map(|body| body.velocity[axis]).sum();
            assert!(momentum.abs() < 1e-9, "{momentum}");
        }
    }
}
