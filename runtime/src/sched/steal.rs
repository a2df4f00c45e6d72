//! Takes tasks from other workers: from which, in which order, and when that is worth the trouble.

use std::cell::Cell;

use super::policy::{SMALL_BACKLOG, THIEF_SPINS, WATCHED_TOGETHER};
use super::slot::Slot;
use super::worker::Worker;
use crate::primitives::hint;
use crate::task::Runnable;

/// The order in which a worker tries the others: each once, starting at a random one, so that thieves spread.
pub(crate) struct StealOrder(Cell<u32>);

impl StealOrder {
    pub(super) fn new(index: usize) -> Self {
        // Never zero, which would stay zero.
        Self(Cell::new(index as u32 * 2 + 1))
    }

    /// Returns the place to begin with, out of this many.
    pub(crate) fn start(&self, places: usize) -> usize {
        // xorshift: good enough to spread thieves.
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        self.0.set(x);
        x as usize % places
    }
}

/// Takes tasks of another worker into the queue of this one, and returns the first. If tasks come to the shared queues
/// meanwhile, it may be one of those: this worker counts as one that searches, so nobody was woken for them.
pub(crate) fn task(thief: &Worker) -> Option<Runnable> {
    let spin = hint::spin_loop;
    let take_half = |victim: &Slot| victim.stealer.steal_into(&thief.queue);
    try_all(thief, weigh_backlog, take_half, spin)
        .or_else(|| try_all(thief, weigh_lifo, |victim| victim.lifo.take(), spin))
}

/// What a thief makes of what lies in a slot.
enum Worth {
    Nothing,
    Taking,
    /// Left to its owner, if that makes progress.
    Watching,
}

/// Half of a queue is taken if that is worth the trouble: what its owner will have done in a moment is better left to
/// it.
fn weigh_backlog(victim: &Slot) -> Worth {
    // One task is no backlog of a worker between two polls, which is about to take it.
    let at_once = victim.stealer.len() == 1 && !victim.is_polling();
    let is_small = at_once || victim.backlog() < SMALL_BACKLOG.as_nanos() as u64;
    if victim.stealer.is_empty() {
        Worth::Nothing
    } else if is_small {
        Worth::Watching
    } else {
        Worth::Taking
    }
}

/// The task in a worker's LIFO slot is taken if the worker does not come to it: one that makes progress is about to run
/// it, with its cache warm.
fn weigh_lifo(victim: &Slot) -> Worth {
    if victim.lifo.is_empty() { Worth::Nothing } else { Worth::Watching }
}

/// Tries every other slot once.
fn try_all(
    thief: &Worker,
    weigh: impl Fn(&Slot) -> Worth,
    take: impl Fn(&Slot) -> Option<Runnable>,
    spin: impl Fn(),
) -> Option<Runnable> {
    let slots = thief.pool.slots_in_use();
    let start = thief.steal_order.start(slots.len());
    let take = |slot: &Slot| take(slot).inspect(|_| note_theft(thief, slot));
    let mut watch = Watch::default();
    for slot in slots[start..].iter().chain(&slots[..start]) {
        if std::ptr::eq(&***slot, thief.slot()) {
            continue;
        }
        let found = match weigh(slot) {
            Worth::Nothing => None,
            Worth::Taking => take(slot),
            Worth::Watching if watch.add(slot) => None,
            Worth::Watching => watch.end(thief, take, &spin),
        };
        if found.is_some() {
            return found;
        }
    }
    watch.end(thief, take, &spin)
}

/// Some owners, and their progress when the thief came by. To watch one after the other would take long where there are
/// many.
#[derive(Default)]
struct Watch<'a> {
    owners: [Option<(&'a Slot, u64)>; WATCHED_TOGETHER],
    count: usize,
}

impl<'a> Watch<'a> {
    /// Adds an owner. Returns true if there is room for another.
    fn add(&mut self, slot: &'a Slot) -> bool {
        self.owners[self.count] = Some((slot, slot.progress()));
        self.count += 1;
        self.count < WATCHED_TOGETHER
    }

    /// Watches them for some microseconds, and takes what those keep that make no progress. The next watch is of others.
    fn end(
        &mut self,
        thief: &Worker,
        take: impl Fn(&Slot) -> Option<Runnable>,
        spin: impl Fn(),
    ) -> Option<Runnable> {
        let mut owners = std::mem::take(self).owners;
        let mut turns = 0..THIEF_SPINS;
        while owners.iter().any(Option::is_some) && turns.next().is_some() {
            spin();
            for owner in &mut owners {
                *owner = owner.filter(|(slot, before)| slot.progress() == *before);
            }
        }
        let stolen = owners.iter().flatten().find_map(|(slot, _)| take(slot));
        stolen.or_else(|| if turns.start > 0 { thief.take_shared() } else { None })
    }
}

fn note_theft(thief: &Worker, victim: &Slot) {
    thief.slot().counters.steals.bump();
    thief.observer.note_steal(place_of(thief, victim));
}

/// Returns the index of a slot. Looked for only after a theft, because a search tries many slots in vain.
#[cold]
fn place_of(thief: &Worker, slot: &Slot) -> usize {
    let is_it = |other: &Slot| std::ptr::eq(other, slot);
    thief.pool.slots.iter().position(|other| is_it(other)).unwrap_or_default()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::primitives::Arc;
    use crate::sched::pool::Pool;
    use crate::shutdown;
    use crate::task::Origin;

    const WORKERS: usize = 64;

    fn spawn(pool: &Arc<Pool>) {
        drop(pool.spawn(async {}, Origin::new(Location::caller(), None)));
    }

    /// Returns a thief and owners that are in a poll, each with a task in its queue.
    fn thief_and_owners() -> (Worker, Vec<Worker>) {
        let pool = Pool::for_tests(WORKERS);
        let mut workers = (0..WORKERS).map(|index| Worker::new(pool.clone(), index).unwrap());
        let thief = workers.next().unwrap();
        let owners = workers
            .inspect(|owner| {
                spawn(&pool);
                owner.push(pool.take_one().unwrap());
                owner.slot().counters.tick.bump();
            })
            .collect();
        (thief, owners)
    }

    fn shut_down(thief: Worker, owners: Vec<Worker>) {
        let pool = thief.pool.clone();
        owners.iter().for_each(Worker::hand_over);
        shutdown::begin(&pool);
        thief.run();
        assert!(pool.is_over());
    }

    /// Runs the first half of a search, with this done at each turn of a spin.
    fn search(thief: &Worker, spin: impl Fn()) -> Option<Runnable> {
        let take_half = |victim: &Slot| victim.stealer.steal_into(&thief.queue);
        try_all(thief, weigh_backlog, take_half, spin)
    }

    /// It watched each of them for microseconds, one after the other, and nobody was woken for what came meanwhile,
    /// because it searched.
    #[test]
    fn a_thief_watches_owners_together_and_sees_what_comes_meanwhile() {
        let (thief, owners) = thief_and_owners();
        let all_make_progress =
            || owners.iter().for_each(|owner| owner.slot().counters.tick.add(2));
        let turns = Cell::new(0);
        let count = || turns.set(turns.get() + 1);

        let found = search(&thief, || {
            count();
            all_make_progress();
        });
        assert!(found.is_none(), "it is left to its owners");
        assert_eq!(turns.take(), 8, "a spin for each, where all go on at once");

        let found = search(&thief, || {
            count();
            all_make_progress();
            if turns.get() == 2 {
                spawn(&thief.pool);
            }
        });
        thief.push(found.expect("what was pushed"));
        assert_eq!(turns.take(), 2, "at the end of the watch in which it came");
        assert_eq!(thief.slot().counters.steals.get(), 0);
        shut_down(thief, owners);
    }

    #[test]
    fn a_thief_takes_from_the_one_that_is_stuck() {
        let (thief, owners) = thief_and_owners();
        let stuck = 7;
        let found = search(&thief, || {
            let others = owners.iter().filter(|owner| owner.index() != stuck);
            others.for_each(|owner| owner.slot().counters.tick.add(2));
        });
        thief.push(found.expect("that of the one that is stuck"));
        let left: Vec<_> = owners.iter().filter(|owner| !owner.has_own()).collect();
        assert_eq!(left.iter().map(|owner| owner.index()).collect::<Vec<_>>(), [stuck]);
        assert_eq!(thief.slot().counters.steals.get(), 1);
        shut_down(thief, owners);
    }
}
