//! The calls of `block_on` that each thread is in, with their tasks. The thread itself finds its current call here, and
//! the list of tasks shows them all.
//!
//! Each thread has a list, whose lock is taken only by the thread itself and by threads that list
//! tasks. The process knows the lists of all threads, because a thread may call the `block_on` of
//! any runtime. The locks are `std`'s, also in models: each is held for a few instructions, in
//! which nothing else is called.

use std::panic::Location;
use std::sync::{Arc as Shared, PoisonError, RwLock, Weak};
use std::thread::{self, Thread};
use std::time::Instant;

use windlass_timer::nanos;

use super::tasks::LocalTasks;
use crate::primitives::Arc;
use crate::primitives::plain::{AtomicU64, Ordering};
use crate::sched::Pool;
use crate::task::{self, Id, Listing, Notes, PollTime, SiteId, Waits};

/// A call of `block_on` by the program.
pub(crate) struct BlockOnCall {
    /// The address of the runtime's pool, to be compared.
    pool: usize,
    pub(crate) id: Id,
    pub(crate) location: &'static Location<'static>,
    /// The thread that has made the call.
    pub(crate) thread: Thread,
    pub(crate) notes: Notes,
    /// True if a task has made the call. The task is listed, and notes what the call waits for.
    is_within_task: bool,
    is_observed: bool,
    /// When the future's current poll began, in nanoseconds; 0 while it waits.
    polled_since: AtomicU64,
}

impl BlockOnCall {
    pub(crate) fn new(pool: &Arc<Pool>, location: &'static Location<'static>) -> Shared<Self> {
        let notes = Notes::new(SiteId::of(location, None), Listing::AtSpawn);
        let is_observed = pool.is_observed();
        if is_observed {
            notes.spawned(nanos(Instant::now()));
        }
        Shared::new(Self {
            pool: address(pool),
            id: Id::next(),
            location,
            thread: thread::current(),
            notes,
            is_within_task: task::try_id().is_some(),
            is_observed,
            polled_since: AtomicU64::new(0),
        })
    }

    /// Polls the future.
    pub(super) fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        if !self.is_observed {
            return poll();
        }
        let now = nanos(Instant::now());
        self.polled_since.store(now.max(1), Ordering::Relaxed);
        let polled = task::poll_outside(&self.notes, PollTime::new(now), poll);
        self.polled_since.store(0, Ordering::Relaxed);
        polled
    }

    /// Returns when the future's current poll began, in nanoseconds.
    pub(crate) fn polled_since(&self) -> Option<u64> {
        Some(self.polled_since.load(Ordering::Relaxed)).filter(|since| *since > 0)
    }

    /// Removes the call from the list, because it returns.
    fn end(&self) {
        if self.is_within_task {
            task::note_wait(Waits::Unknown);
        }
    }
}

/// A call of `block_on`, or the life of a thread for pinned tasks, and the tasks that run inside.
#[derive(Default)]
pub(super) struct Place {
    pub(super) call: Option<Shared<BlockOnCall>>,
    pub(super) tasks: Option<Arc<LocalTasks>>,
}

/// The calls that one thread is in, the innermost last.
#[derive(Default)]
pub(super) struct Places(RwLock<Vec<Place>>);

/// The lists of all threads.
static THREADS: RwLock<Vec<Weak<Places>>> = RwLock::new(Vec::new());

impl Places {
    /// Returns the list of a thread that has none yet.
    pub(super) fn register() -> Shared<Self> {
        let places = Shared::new(Self::default());
        let mut threads = THREADS.write().unwrap_or_else(PoisonError::into_inner);
        if threads.len() == threads.capacity() {
            // On average, each new thread pays for a look at one that has ended.
            threads.retain(|places| places.strong_count() > 0);
        }
        threads.push(Shared::downgrade(&places));
        places
    }

    pub(super) fn push(&self, place: Place) {
        self.change(|places| places.push(place));
    }

    /// Removes the innermost.
    pub(super) fn pop(&self) -> Option<Place> {
        let place = self.change(Vec::pop);
        if let Some(call) = place.as_ref().and_then(|place| place.call.as_ref()) {
            call.end();
        }
        place
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Place>) -> R) -> R {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `of` with the innermost, and returns its result.
    pub(super) fn innermost<R>(&self, of: impl FnOnce(&mut Place) -> R) -> Option<R> {
        self.change(|places| places.last_mut().map(of))
    }
}

/// Returns the calls of the runtime's `block_on`, by threads that run no task of it.
pub(crate) fn calls(pool: &Arc<Pool>) -> Vec<Shared<BlockOnCall>> {
    let is_wanted =
        |call: &&Shared<BlockOnCall>| call.pool == address(pool) && !call.is_within_task;
    of_all(|place| place.call.as_ref().filter(is_wanted).cloned())
}

/// Returns the tasks of all threads that run some for this runtime.
pub(super) fn local_tasks(pool: &Arc<Pool>) -> Vec<Arc<LocalTasks>> {
    of_all(|place| place.tasks.as_ref().filter(|tasks| tasks.is_of(pool)).cloned())
}

fn of_all<R>(of: impl Fn(&Place) -> Option<R>) -> Vec<R> {
    let threads: Vec<_> = {
        let threads = THREADS.read().unwrap_or_else(PoisonError::into_inner);
        threads.iter().filter_map(Weak::upgrade).collect()
    };
    let mut all = Vec::new();
    for places in threads {
        all.extend(places.0.read().unwrap_or_else(PoisonError::into_inner).iter().filter_map(&of));
    }
    all
}

fn address(pool: &Arc<Pool>) -> usize {
    Arc::as_ptr(pool).addr()
}
