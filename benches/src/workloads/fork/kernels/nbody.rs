//! Bodies that attract each other, all with all: in each step the forces, a job for some bodies, then the
//! positions.

use std::hint::black_box;

use super::super::pool::ForkPeer;
use super::super::timed;
use super::each;
use crate::measure::{Budget, Metrics, passes};

const BODIES: usize = 500;
const STEPS: usize = 10;

/// Bodies that one job moves.
const GRAIN: usize = 8;

const TIME: f64 = 0.01;

/// Keeps bodies that meet from being thrown away by each other.
const SOFTNESS: f64 = 0.05;

#[derive(Clone, Copy)]
struct Body {
    position: [f64; 3],
    velocity: [f64; 3],
    mass: f64,
}

fn bodies() -> Vec<Body> {
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut body = || Body {
        position: std::array::from_fn(|_| next()),
        velocity: [0.0; 3],
        mass: 1.0 / BODIES as f64,
    };
    (0..BODIES).map(|_| body()).collect()
}

fn step<P: ForkPeer>(scope: &mut P::Scope<'_>, now: &[Body], then: &mut [Body]) {
    each::<P, _, _>(scope, 0, then, GRAIN, &|place, body: &mut Body| {
        let Body { position, velocity, mass } = now[place];
        let pull = attraction(position, now);
        let velocity = std::array::from_fn(|axis| velocity[axis] + TIME * pull[axis]);
        let position = std::array::from_fn(|axis| position[axis] + TIME * velocity[axis]);
        *body = Body { position, velocity, mass };
    });
}

fn attraction(position: [f64; 3], all: &[Body]) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for body in all {
        let away: [f64; 3] = std::array::from_fn(|axis| body.position[axis] - position[axis]);
        let square = away.iter().map(|distance| distance * distance).sum::<f64>() + SOFTNESS;
        let pull = body.mass / (square * square.sqrt());
        for axis in 0..3 {
            sum[axis] += pull * away[axis];
        }
    }
    sum
}

pub(super) fn inside<P: ForkPeer>(budget: &Budget) -> Metrics {
    let start = bodies();
    P::run(|scope| {
        passes(budget, || {
            let (mut now, mut then) = (start.clone(), start.clone());
            timed(1, || {
                for _ in 0..STEPS {
                    step::<P>(scope, &now, &mut then);
                    std::mem::swap(&mut now, &mut then);
                }
                black_box(&now);
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::pool::Sequential;
    use super::*;

    #[test]
    fn what_all_do_to_each_other_moves_no_centre() {
        let now = bodies();
        let mut then = now.clone();
        step::<Sequential>(&mut (), &now, &mut then);
        for axis in 0..3 {
            let momentum: f64 = then.iter().map(|body| body.mass * body.velocity[axis]).sum();
            assert!(momentum.abs() < 1e-12, "{momentum}");
        }
    }
}
