//! The poller's thread: blocks on the OS so that no worker has to, and watches over the workers.
//!
//! It never runs user code other than wakers, and what it wakes goes into the pool's fast lane.
//!
//! # A gate that fired
//!
//! - If a worker sits on the OS itself, it has the events already.
//! - If a worker is awake and gets on, it will harvest soon: the thread stands guard.
//! - Otherwise it wakes a sleeper, which harvests. A worker that has been in one poll for more than
//!   [`PATIENCE`] does not count as getting on.
//! - If there is no sleeper either, the thread harvests itself, and arms the gate again when it has given up
//!   its guard.
//! - With neither sources nor timers there is nothing to see to.
//!
//! On guard, the thread looks whether anybody has harvested since its last look. If not, it acts as
//! if no worker got on; but one that does is given the time of a round first.
//!
//! A sleeper that is woken leaves harvesting to a worker that is awake, and sleeps on while the thread
//! stands guard over that. So before it wakes one, the thread says which workers are held up, though they
//! had short polls before; and that the one it wakes is to harvest whatever it thinks of the others. One
//! that the OS keeps from running is not held up in any poll.

use std::io;
use std::time::{Duration, Instant};

use super::sys::Woken;
use super::test_clock::Idleness;
use crate::context::{self, Role};
use crate::entered::Scope;
use crate::handle::Handle;
use crate::primitives::plain::Ordering as Plain;
use crate::primitives::{Arc, Ordering, fence};
use crate::sched::{self, LONGEST_ROUND, Pool, Watcher};

/// How long a worker that is awake has to harvest before the thread steps in.
const PATIENCE: Duration = Duration::from_micros(50);
/// How long one has that gets on, and may be in the middle of a round. In models nothing rests on how long that is.
const ROUND: Duration =
    if cfg!(loom) { PATIENCE } else { LONGEST_ROUND.saturating_add(PATIENCE.saturating_mul(2)) };
/// The longest pause between two looks on guard.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// Starts the poller's thread, which ends with the last task after the pool was closed.
pub(crate) fn start(pool: &Arc<Pool>) -> io::Result<()> {
    let name = format!("{}-poller", pool.config.thread_name);
    sched::start_thread(pool, name, run)
}

fn run(pool: &Arc<Pool>) {
    context::set_role(Role::Poller);
    // A waker finds the runtime's time, and spawns where it belongs, as it would on a worker.
    let _entered = Scope::enter(Handle::new(pool.clone()));
    super::keep_time();
    let poller = pool.poller();
    let mut watcher = Watcher::new(pool);
    let mut now = Instant::now();
    let mut guard = None;
    let mut idleness = Idleness::new();
    // With the last task gone, no worker can be stuck and nobody waits for events.
    while !pool.is_over() {
        // In models the watch looks when it is kicked: nothing else may rest on it.
        let watch = if cfg!(loom) { None } else { watcher.pause(pool) };
        let mut pause = shorter(watch, guard.as_ref().map(Guard::pause));
        if poller.is_virtual() && poller.timers().in_use() {
            pause = shorter(pause, Some(idleness.pause()));
        }
        // An error would mean that the outer instance is broken beyond repair; going on with the
        // watch, at a measured pace, is the best that is left.
        let woken = poller.keep_wait(pause, guard.is_some()).unwrap_or_else(|_| {
            std::thread::sleep(LONGEST_PAUSE);
            Default::default()
        });
        // Models must not go by how fast the machine is: time passes when a pause is over, and else
        // stands still.
        now = match woken {
            _ if cfg!(not(loom)) => Instant::now(),
            Woken { gate: false, kicked: false } => now + PATIENCE,
            _ => now,
        };
        watcher.look(pool, now);
        if woken.gate || guard.is_some() {
            watcher.tell_held_up(pool, now, PATIENCE);
        }
        if woken.gate {
            poller.gate_fired();
            guard = see_to_it(pool, watcher.any_gets_on(pool, now, PATIENCE), now);
        } else if let Some(standing) = &mut guard {
            if standing.is_over(pool, now, patience(pool, &watcher, now)) {
                guard = see_to_it(pool, false, now);
            } else if poller.is_armed() {
                guard = None;
            }
        }
        let left = poller.timers_left.swap(false, Ordering::Relaxed) && !poller.is_seated();
        if (poller.guard_wanted.swap(false, Ordering::Relaxed) || left) && guard.is_none() {
            guard = Some(Guard::new(pool, now));
        }
        poller.look_at_timers(guard.is_some());
        if poller.is_virtual() {
            idleness.look(pool);
        }
        poller.set_on_guard(guard.is_some());
        // Partner of the fence before `Poller::want_guard`: a worker that relied on the guard when it left
        // the seat is seen here to have left it.
        fence(Ordering::SeqCst);
        if guard.is_none() && !poller.is_seated() {
            poller.arm_gate();
        }
    }
}

/// How long somebody has to harvest, of those who are awake.
fn patience(pool: &Pool, watcher: &Watcher, now: Instant) -> Duration {
    // With long polls, or in a computation, a worker leaves the OS alone although it gets on.
    let harvests = watcher.any_gets_on(pool, now, PATIENCE) && pool.get_on(0);
    if harvests { ROUND } else { PATIENCE }
}

/// Makes sure that somebody harvests: the worker in the seat, one that gets on, a sleeper, or else the
/// thread itself. Gives the guard to stand, if one is needed.
fn see_to_it(pool: &Pool, any_gets_on: bool, now: Instant) -> Option<Guard> {
    let poller = pool.poller();
    // With nothing to look at, a sleeper that is woken to look would go back to sleep, over and over. The first source
    // arms the gate, and the first timer rings.
    if poller.is_seated() || !(poller.in_use() || poller.timers().in_use()) {
        return None;
    }
    if any_gets_on {
        return Some(Guard::new(pool, now));
    }
    poller.neglected.store(true, Plain::Relaxed);
    if pool.wake_one() {
        return Some(Guard::new(pool, now));
    }
    let guard = Guard::new(pool, now);
    poller.harvest();
    // If a worker is at it that the OS keeps from running, to arm the gate would have it fire at once, over
    // and over.
    let looked = !poller.in_use() || poller.harvests() != guard.harvests;
    if looked { None } else { Some(guard) }
}

/// The thread relies on a worker to harvest.
struct Guard {
    harvests: u64,
    since: Instant,
    pause: Duration,
}

impl Guard {
    fn new(pool: &Pool, now: Instant) -> Self {
        // With nothing to harvest but timers, it is enough to look when these must be looked at anyway.
        let pause = if pool.poller().in_use() { PATIENCE } else { LONGEST_PAUSE };
        Self { harvests: pool.poller().harvests(), since: now, pause }
    }

    fn pause(&self) -> Duration {
        self.pause
    }

    /// True if nobody has harvested for longer than the thread's patience.
    fn is_over(&mut self, pool: &Pool, now: Instant, patience: Duration) -> bool {
        let harvests = pool.poller().harvests();
        if harvests == self.harvests {
            return now.duration_since(self.since) >= patience;
        }
        // The workers do it by themselves: less and less need to look.
        *self = Self { harvests, since: now, pause: (self.pause * 2).min(LONGEST_PAUSE) };
        false
    }
}

fn shorter(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::sched::LONG_POLL;

    #[test]
    fn only_a_worker_that_looks_at_the_os_is_given_the_time_of_a_round() {
        let pool = Pool::for_tests(1);
        let (slot, watcher) = (&pool.slots[0], Watcher::new(&pool));
        slot.occupied.store(true, Plain::Relaxed);
        let patience = || patience(&pool, &watcher, Instant::now());
        assert_eq!(patience(), ROUND, "it is between two polls");
        slot.counters.tick.bump();
        assert_eq!(patience(), ROUND, "its polls are short");
        slot.counters.poll_time.set(LONG_POLL);
        assert_eq!(patience(), PATIENCE, "with polls this long it leaves the OS to others");
        slot.counters.poll_time.set(LONG_POLL / 2);
        slot.computing.store(true, Plain::Relaxed);
        assert_eq!(patience(), PATIENCE, "it computes");
        slot.computing.store(false, Plain::Relaxed);
        pool.sleepers.announce(0, false);
        assert_eq!(patience(), PATIENCE, "nobody is awake");
    }
}
