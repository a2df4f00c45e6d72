//! Times in which nothing ran, so that nothing was stuck either.
//!
//! A virtual machine is stopped and goes on, somebody stops the process, the clock is set forward: no worker has used
//! the time that has passed. The monitor recognises this by its own lateness alone, and touches no slot.

use std::time::{Duration, Instant};

use super::policy::{STOOD_STILL, TIMELESS};

/// Remembers when the monitor was due to look.
#[derive(Default)]
pub(super) struct Standstill {
    /// When the next look is due; `None` before the first, and while the monitor is off.
    due: Option<Instant>,
}

impl Standstill {
    /// Notes that the next look is due at this time, or sooner.
    pub(super) fn expect(&mut self, due: Instant) {
        self.due = Some(due);
    }

    /// Returns for how long nothing has run before the look at `now`, if that comes far too late.
    pub(super) fn before(&mut self, now: Instant) -> Option<Duration> {
        let late = now.saturating_duration_since(self.due.take()?);
        // In models the time between two looks is up to the model.
        (!TIMELESS && late > STOOD_STILL).then_some(late)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sched::monitor::Monitor;
    use crate::sched::{Pool, Worker};
    use crate::shutdown;

    /// When a virtual machine that had been stopped went on, each poll that was under way was reported as stuck for as
    /// long, the flight record was dumped, and spares were started.
    #[test]
    fn the_time_in_which_nothing_ran_does_not_count_as_stuck() {
        let pool = Pool::for_tests(1);
        let worker = Worker::new(pool.clone(), 0).unwrap();
        pool.note_move_in(0);
        worker.slot().counters.tick.bump();
        let begun = Instant::now();
        let mut monitor = Monitor::new(&pool, begun);
        monitor.look(&pool, begun);
        let stopped = begun + Duration::from_millis(20);
        monitor.look(&pool, stopped);

        let later = stopped + Duration::from_secs(3600);
        monitor.look(&pool, later);
        let stuck = |monitor: &Monitor, now: Instant| now - monitor.seen[0].1;
        assert!(stuck(&monitor, later) < STOOD_STILL, "{:?}", stuck(&monitor, later));
        // It is stuck all the same, and looks that are a little late count.
        let mut now = later;
        for _ in 0..20 {
            now += STOOD_STILL / 2;
            monitor.look(&pool, now);
        }
        assert!(stuck(&monitor, now) >= STOOD_STILL * 10);

        worker.slot().counters.tick.bump();
        shutdown::begin(&pool);
        worker.run();
        assert!(pool.is_over());
    }
}
