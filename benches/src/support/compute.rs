//! Computing for a given time on any machine: as many steps as take that long when nothing interrupts them.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A number of steps, measured once on this machine. The same work for every peer: a thread that is
/// preempted meanwhile has as much left to do as before.
#[derive(Clone, Copy)]
pub(crate) struct Compute {
    steps: u64,
}

/// Steps of one measurement: some microseconds.
const SAMPLE: u64 = 5_000;

/// Measurements, of which the fastest was not interrupted.
const SAMPLES: usize = 200;

impl Compute {
    /// Takes about 2 ms to find out how fast this machine is.
    pub(crate) fn lasting(time: Duration) -> Compute {
        let sample = |_| {
            let began = Instant::now();
            walk(SAMPLE);
            began.elapsed()
        };
        let fastest = (0..SAMPLES).map(sample).min().unwrap_or_default();
        let steps_per_ns = SAMPLE as f64 / fastest.as_nanos().max(1) as f64;
        Compute { steps: (time.as_nanos() as f64 * steps_per_ns) as u64 }
    }

    /// One of several equal parts of it.
    pub(crate) fn part(self, parts: u64) -> Compute {
        Compute { steps: self.steps / parts }
    }

    #[inline]
    pub(crate) fn run(self) {
        walk(self.steps);
    }
}

/// Each step needs the result of the last, so that all machines take them one by one.
#[inline(never)]
fn walk(steps: u64) {
    let mut x = black_box(0x2545_f491_4f6c_dd1d_u64);
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    black_box(x);
}
