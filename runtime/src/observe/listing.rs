//! The list of all tasks, and what they wait for.
//!
//! Nothing here waits for a worker or runs a task. The locks that are taken are those of the shards of the list of all
//! tasks, each for a moment; no user code ever runs under them.

use std::time::{Duration, Instant};

use windlass_sync::waits;
use windlass_timer::{epoch, nanos};

use super::{TaskInfo, TaskState, WaitsFor};
use crate::poller::{Direction, peer};
use crate::sched::{Pool, Slot};
use crate::task::{self, Id, Notes, TaskRef, Waits};

/// Has the futures of the crates below say what they wait for.
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
pub(super) fn tasks(pool: &Pool) -> Vec<TaskInfo> {
    // The unlisted first: one that becomes listed meanwhile is found there, and left out here.
    let slots = pool.slots.iter().enumerate();
    let unlisted: Vec<_> = slots.filter_map(|(worker, slot)| unlisted(worker, slot)).collect();
    let listed = pool.owned.all();
    let mut tasks: Vec<_> = listed.iter().filter_map(|task| listed_task(pool, task)).collect();
    let known: std::collections::HashSet<_> = tasks.iter().map(|task| task.id).collect();
    tasks.extend(unlisted.into_iter().filter(|task| !known.contains(&task.id)));
    tasks
}

/// The task that a worker polls for the first time.
fn unlisted(worker: usize, slot: &Slot) -> Option<TaskInfo> {
    let (site, id) = slot.unlisted()?;
    let since = began(slot);
    let age = nanos(Instant::now()).saturating_sub(since);
    Some(TaskInfo {
        id,
        name: None,
        location: site.get().location,
        age: Duration::from_nanos(age),
        state: TaskState::Running { worker, since: instant(since) },
        polls: 1,
        busy: Duration::ZERO,
        waits_for: WaitsFor::Nothing,
        waiting_for: Duration::ZERO,
    })
}

/// A task of the list; `None` if it has ended since.
fn listed_task(pool: &Pool, task: &TaskRef) -> Option<TaskInfo> {
    let header = task.header();
    let notes = &header.notes;
    let state = header.state.load();
    if state.is_complete() {
        return None;
    }
    let polled_by = |slot: &Slot| slot.is_in_poll_of(task.as_pointer());
    let running = pool.slots.iter().position(|slot| polled_by(slot));
    let state = match running {
        Some(worker) => TaskState::Running { worker, since: instant(began(&pool.slots[worker])) },
        None if state.is_scheduled() => TaskState::Queued,
        None => TaskState::Idle,
    };
    let now = nanos(Instant::now());
    let origin = task.origin();
    let is_idle = state == TaskState::Idle;
    let waited = if is_idle { notes.since_poll(now) } else { 0 };
    Some(TaskInfo {
        id: header.id,
        name: origin.name,
        location: origin.location,
        age: Duration::from_nanos(notes.age(now)),
        state,
        polls: notes.polls(),
        busy: Duration::from_nanos(notes.busy()),
        waits_for: if is_idle { waits_for(notes, now) } else { WaitsFor::Nothing },
        waiting_for: Duration::from_nanos(waited),
    })
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
        Waits::JoinBlocking => WaitsFor::Blocking,
        Waits::Event => WaitsFor::Event,
        Waits::Latch => WaitsFor::Latch,
        Waits::Cancellation => WaitsFor::Cancellation,
    }
}

/// When the poll began that a worker is in, at the earliest.
fn began(slot: &Slot) -> u64 {
    slot.watch.get().map_or(0, super::Watch::clock)
}

fn instant(nanos: u64) -> Instant {
    epoch() + Duration::from_nanos(nanos)
}
