//! The part of the list that no worker runs: closures of the blocking pool, tasks that stay on one
//! thread, and futures of `block_on`.

use std::collections::HashSet;
use std::time::Instant;

use windlass_timer::nanos;

use super::listing::{Noted, instant};
use super::{TaskInfo, TaskKind, TaskState};
use crate::local;
use crate::local::calls::{BlockOnCall, calls};
use crate::primitives::Arc;
use crate::sched::Pool;
use crate::task::{Id, Origin, TaskRef};

/// Adds them to the list.
pub(super) fn outside(pool: &Arc<Pool>, tasks: &mut Vec<TaskInfo>) {
    let (queued, running) = pool.blocking.all();
    let begun: HashSet<Id> = running.iter().map(|closure| closure.header().id).collect();
    let has_begun = |closure: &&TaskRef| begun.contains(&closure.header().id);
    tasks.extend(
        queued.iter().filter(|it| !has_begun(it)).filter_map(|it| closure(pool, it, false)),
    );
    tasks.extend(running.iter().filter_map(|it| closure(pool, it, true)));
    for thread in local::all(pool) {
        tasks.extend(thread.all().filter_map(|(task, since)| local_task(pool, &task, since)));
    }
    tasks.extend(calls(pool).iter().map(|call| block_on(pool, call)));
}

/// Describes a closure of the blocking pool. Returns `None` if it has ended since.
fn closure(pool: &Pool, task: &TaskRef, is_running: bool) -> Option<TaskInfo> {
    let header = task.header();
    let now = nanos(Instant::now());
    let state = if is_running {
        // Its thread has taken it, and may not have noted that yet.
        let has_begun = header.notes.polls() > 0;
        let since = if has_begun { now.saturating_sub(header.notes.since_poll(now)) } else { now };
        running(pool, since, now)
    } else {
        TaskState::Queued
    };
    let noted = Noted { kind: TaskKind::Blocking, id: header.id, notes: &header.notes, state };
    (!header.state.load().is_complete()).then(|| noted.info(pool, task.origin(), now))
}

/// Describes a task that stays on one thread. `polled_since` is when its current poll began, if it is being polled.
/// Returns `None` if it has ended.
fn local_task(pool: &Pool, task: &TaskRef, polled_since: Option<u64>) -> Option<TaskInfo> {
    let header = task.header();
    let (now, state) = (nanos(Instant::now()), header.state.load());
    if state.is_complete() {
        return None;
    }
    let state = match polled_since {
        Some(since) => running(pool, since, now),
        None if state.is_scheduled() => TaskState::Queued,
        None => TaskState::Idle,
    };
    let noted = Noted { kind: TaskKind::Local, id: header.id, notes: &header.notes, state };
    Some(noted.info(pool, task.origin(), now))
}

/// Describes the future of a `block_on`.
fn block_on(pool: &Pool, call: &BlockOnCall) -> TaskInfo {
    let now = nanos(Instant::now());
    let state = call.polled_since().map_or(TaskState::Idle, |since| running(pool, since, now));
    let noted = Noted { kind: TaskKind::BlockOn, id: call.id, notes: &call.notes, state };
    let name = call.thread.name().map(str::to_owned);
    noted.info(pool, Origin::new(call.location, name), now)
}

fn running(pool: &Pool, since: u64, now: u64) -> TaskState {
    let since = if pool.config.observe { since } else { now };
    TaskState::RunningOutside { since: instant(since) }
}
