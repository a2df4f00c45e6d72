//! The list of all tasks, and what they wait for. `listing_outside` adds whatever runs outside of the workers.
//!
//! Nothing here waits for a worker or runs a task. The locks that are taken are those of the shards of the list of all
//! tasks, each for a moment; no user code ever runs under them.

use std::time::{Duration, Instant};

use windlass_sync::waits;
use windlass_timer::{epoch, nanos};

use super::listing_outside::outside;
use super::{Observed, TaskInfo, TaskKind, TaskState, WaitsFor};
use crate::poller::{Direction, peer};
use crate::primitives::Arc;
use crate::sched::{Polled, Pool, Slot};
use crate::task::{self, Id, Notes, Origin, TaskRef, Waits};

/// Has the futures of the lower crates report what they wait for.
pub(crate) fn note_waits() {
    waits::set_note(|waits_for| {
        task::note_wait(match waits_for {
            waits::WaitsFor::Event => Waits::Event,
            waits::WaitsFor::Latch => Waits::Latch,
            waits::WaitsFor::Cancellation => Waits::Cancellation,
            waits::WaitsFor::Timer(deadline) => Waits::Timer(deadline),
        });
    });
}

/// Returns every task that can be seen without stopping a worker.
pub(super) fn tasks(pool: &Arc<Pool>) -> Vec<TaskInfo> {
    pool.list_stalled(nanos(Instant::now()));
    // The unlisted first: one that becomes listed meanwhile is found there, and left out here.
    let slots = pool.slots.iter().enumerate();
    let unlisted: Vec<_> =
        slots.filter_map(|(worker, slot)| unlisted(pool, worker, slot)).collect();
    let listed = pool.owned.all();
    let mut tasks: Vec<_> = listed.iter().filter_map(|task| listed_task(pool, task)).collect();
    let known: std::collections::HashSet<_> = tasks.iter().map(|task| task.id).collect();
    tasks.extend(unlisted.into_iter().filter(|task| !known.contains(&task.id)));
    outside(pool, &mut tasks);
    tasks
}

/// Returns the task that a worker is polling for the first time, if there is one.
fn unlisted(pool: &Pool, worker: usize, slot: &Slot) -> Option<TaskInfo> {
    let (site, id) = slot.unlisted()?;
    let now = nanos(Instant::now());
    let since = began(pool, slot, Polled::Innermost, now);
    Some(TaskInfo {
        kind: TaskKind::Task,
        id,
        name: None,
        location: site.get().location,
        age: Duration::from_nanos(now.saturating_sub(since)),
        state: TaskState::Running { worker, since: instant(since) },
        is_computing: slot.activity.is_computing(),
        is_blocked: slot.activity.is_blocked(),
        polls: 1,
        busy: Duration::ZERO,
        waits_for: WaitsFor::Nothing,
        waiting_for: Duration::ZERO,
    })
}

/// Describes a task of the list. Returns `None` if it has ended since.
fn listed_task(pool: &Pool, task: &TaskRef) -> Option<TaskInfo> {
    let header = task.header();
    let state = header.state.load();
    if state.is_complete() {
        return None;
    }
    let now = nanos(Instant::now());
    let polled_by = |(worker, slot): (usize, &Slot)| {
        slot.in_poll_of(task.as_pointer()).map(|polled| (worker, polled))
    };
    // Most tasks are idle, and there may be many slots. What a slot says about a task that is not scheduled belongs to
    // a poll that is over.
    let slots = pool.slots.iter().map(|slot| &***slot);
    let running = if state.is_scheduled() { slots.enumerate().find_map(polled_by) } else { None };
    let (mut is_computing, mut is_blocked) = (false, false);
    let state = match running {
        Some((worker, polled)) => {
            let slot = &pool.slots[worker];
            is_computing = polled == Polled::Around || slot.activity.is_computing();
            is_blocked = polled == Polled::Innermost && slot.activity.is_blocked();
            TaskState::Running { worker, since: instant(began(pool, slot, polled, now)) }
        }
        None if state.is_scheduled() => TaskState::Queued,
        None => TaskState::Idle,
    };
    let noted = Noted { kind: TaskKind::Task, id: header.id, notes: &header.notes, state };
    Some(TaskInfo { is_computing, is_blocked, ..noted.info(pool, task.origin(), now) })
}

/// A task's identity and its notes.
pub(super) struct Noted<'a> {
    pub(super) kind: TaskKind,
    pub(super) id: Id,
    pub(super) notes: &'a Notes,
    pub(super) state: TaskState,
}

impl Noted<'_> {
    /// Returns the description of the task for the list.
    pub(super) fn info(&self, pool: &Pool, origin: Origin, now: u64) -> TaskInfo {
        // If nothing is observed, nothing is noted, and what futures report is never cleared.
        let notes = Some(self.notes).filter(|_| pool.config.observe);
        let of_notes = |read: fn(&Notes, u64) -> u64| {
            Duration::from_nanos(notes.map_or(0, |notes| read(notes, now)))
        };
        let noted = notes.map_or(WaitsFor::Unknown, |notes| waits_for(notes, now));
        let waits_for = match self.state {
            TaskState::Idle => noted,
            // A closure reports something only while it is in a `block_on`.
            TaskState::RunningOutside { .. }
                if self.kind == TaskKind::Blocking && noted != WaitsFor::Unknown =>
            {
                noted
            }
            _ => WaitsFor::Nothing,
        };
        let waiting_for = if waits_for == WaitsFor::Nothing {
            Duration::ZERO
        } else {
            of_notes(Notes::since_poll)
        };
        TaskInfo {
            kind: self.kind,
            id: self.id,
            name: origin.name,
            location: origin.location,
            age: of_notes(Notes::age),
            state: self.state,
            is_computing: false,
            is_blocked: false,
            polls: self.notes.polls(),
            busy: Duration::from_nanos(self.notes.busy()),
            waits_for,
            waiting_for,
        }
    }
}

fn waits_for(notes: &Notes, now: u64) -> WaitsFor {
    let socket = |fd, direction| WaitsFor::Socket { fd, direction, peer: peer(fd) };
    match notes.waits(now) {
        Waits::Nothing => WaitsFor::Nothing,
        Waits::Unknown => WaitsFor::Unknown,
        Waits::Read(fd) => socket(fd, Direction::Read),
        Waits::Write(fd) => socket(fd, Direction::Write),
        Waits::Timer(deadline) => WaitsFor::Timer { deadline: instant(deadline) },
        Waits::Join(half) => Id::from_half(half).map_or(WaitsFor::Unknown, WaitsFor::Join),
        Waits::JoinBlocking(half) => {
            Id::from_half(half).map_or(WaitsFor::Unknown, WaitsFor::Blocking)
        }
        Waits::JoinSet(tasks) => WaitsFor::JoinSet { tasks },
        Waits::Event => WaitsFor::Event,
        Waits::Latch => WaitsFor::Latch,
        Waits::Cancellation => WaitsFor::Cancellation,
    }
}

/// Returns the earliest time at which a worker's current poll may have begun, or `now` if that is not observed.
fn began(pool: &Pool, slot: &Slot, polled: Polled, now: u64) -> u64 {
    let clock = match polled {
        Polled::Innermost if !slot.activity.is_computing() => Observed::clock,
        _ => Observed::clock_around,
    };
    slot.observed.get().filter(|_| pool.config.observe).map_or(now, clock)
}

pub(super) fn instant(nanos: u64) -> Instant {
    epoch() + Duration::from_nanos(nanos)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::future::pending;

    use super::*;
    use crate::sched::Worker;
    use crate::{context, shutdown};

    /// A slot says that it polls a moment before it says what, and so the task that it polled before was listed as
    /// running, although it was idle.
    #[test]
    fn a_task_is_not_running_because_a_worker_has_begun_its_next_poll() {
        let pool = Pool::for_tests(1);
        drop(pool.spawn(pending::<()>(), Origin::caller()));
        let worker = Worker::new(pool.clone(), 0).unwrap();
        let runnable = worker.take_ready().pop().expect("the task");
        context::enter_worker(&worker, || worker.run_task(runnable));
        let state = || tasks(&pool).iter().map(|task| task.state).collect::<Vec<_>>();
        assert_eq!(state(), [TaskState::Idle]);
        worker.slot().counters.tick.bump();
        assert_eq!(state(), [TaskState::Idle]);
        worker.slot().counters.tick.bump();

        shutdown::begin(&pool);
        worker.run();
        assert!(pool.is_over());
    }
}
