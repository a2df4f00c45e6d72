//! A runtime and what it owes: the tasks that were spawned on it, each of which has to end once.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use windlass::Handle;
use windlass::task::{AbortHandle, JoinError, JoinHandle};

use crate::ledger::{LEDGER, count, fail, wait_until};

/// A runtime, as the tasks of one activity see it.
#[derive(Clone, Debug)]
pub(crate) struct House {
    shared: Arc<Shared>,
    /// Set before the activity is dropped: from then on its tasks may miss each other.
    given_up: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Shared {
    handle: Handle,
    /// Whether there is a spare for each task that blocks until another one ends.
    has_spares: bool,
    /// Set before the runtime is told to end: from then on tasks may be cancelled and sockets may fail.
    ending: AtomicBool,
    begun: AtomicUsize,
    /// Where each of the tasks that have not ended was spawned.
    alive: Mutex<HashMap<usize, &'static Location<'static>>>,
}

impl House {
    pub(crate) fn new(handle: Handle, has_spares: bool) -> Self {
        let shared = Arc::new(Shared {
            handle,
            has_spares,
            ending: AtomicBool::new(false),
            begun: AtomicUsize::new(0),
            alive: Mutex::default(),
        });
        Self { shared, given_up: Arc::default() }
    }

    /// Returns the same house for another activity, and what tells its tasks that it was given up.
    pub(crate) fn for_activity(&self) -> (Self, GiveUp) {
        let given_up = Arc::<AtomicBool>::default();
        (Self { shared: self.shared.clone(), given_up: given_up.clone() }, GiveUp(given_up))
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    pub(crate) fn has_spares(&self) -> bool {
        self.shared.has_spares
    }

    /// Tells the tasks that what fails from now on may fail.
    pub(crate) fn end(&self) {
        self.shared.ending.store(true, SeqCst);
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.shared.ending.load(SeqCst) || self.given_up.load(SeqCst)
    }

    /// Returns the number of tasks that have not ended.
    pub(crate) fn alive(&self) -> usize {
        self.shared.alive.lock().unwrap().len()
    }

    /// Waits until no task is left, or ends the process with those that are.
    pub(crate) fn wait_until_empty(&self) {
        wait_until(
            || self.alive() == 0,
            || {
                let places: Vec<_> =
                    self.shared.alive.lock().unwrap().values().map(ToString::to_string).collect();
                format!("tasks that do not end: {places:?}; {:?}", self.handle().metrics())
            },
        );
    }

    /// Spawns a task that is watched.
    #[track_caller]
    pub(crate) fn spawn<F>(&self, future: F) -> Watched
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let ticket = Ticket::new(self);
        let (house, record) = (self.clone(), ticket.record.clone());
        let handle = self.handle().spawn(run(ticket, future));
        Watched { house, record, handle }
    }

    /// Spawns a task that stays on one thread, which is watched.
    #[track_caller]
    pub(crate) fn spawn_pinned<F, Fut>(&self, make: F) -> Watched
    where
        F: FnOnce() -> Fut + Send + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        let ticket = Ticket::new(self);
        let (house, record) = (self.clone(), ticket.record.clone());
        let handle = self.handle().spawn_pinned(move || run(ticket, make()));
        Watched { house, record, handle }
    }

    /// Spawns a task that ends with a panic once `future` is ready.
    #[track_caller]
    pub(crate) fn spawn_thrower<F>(&self, future: F) -> Watched
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let ticket = Ticket::new(self);
        let (house, record) = (self.clone(), ticket.record.clone());
        let handle = self.handle().spawn(async move {
            future.await;
            ticket.record.end_with(THROWN);
            throw()
        });
        Watched { house, record, handle }
    }

    /// Runs a closure on a thread of the blocking pool, which is watched.
    #[track_caller]
    pub(crate) fn spawn_blocking(&self, f: impl FnOnce() + Send + 'static) -> Watched {
        count(&LEDGER.blocking, 1);
        let ticket = Ticket::new(self);
        let (house, record) = (self.clone(), ticket.record.clone());
        let handle = self.handle().spawn_blocking(move || {
            f();
            ticket.record.end_with(COMPLETED);
        });
        Watched { house, record, handle }
    }

    /// Ends the process if this does not hold, unless the runtime or the activity is ending.
    #[track_caller]
    pub(crate) fn check(&self, holds: bool, otherwise: &str) {
        if !holds && !self.is_ending() {
            fail(otherwise);
        }
    }

    /// Ends the process if this does not hold.
    #[track_caller]
    pub(crate) fn always(&self, holds: bool, otherwise: &str) {
        if !holds {
            fail(otherwise);
        }
    }

    /// Returns the value of what has to succeed. `None` if the runtime is ending.
    #[track_caller]
    pub(crate) fn must<T>(&self, result: io::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(_) if self.is_ending() => None,
            Err(error) => fail(&format!("an error in {}: {error}", std::panic::Location::caller())),
        }
    }

    /// Returns what was opened. As [`must`](Self::must), for names that read well.
    #[track_caller]
    pub(crate) fn open<T>(&self, result: io::Result<T>) -> Option<T> {
        self.must(result)
    }

    /// Counts bytes that have come back.
    pub(crate) fn bytes(&self, number: usize) {
        count(&LEDGER.bytes, number);
    }
}

/// Tells the tasks of an activity that it is over when dropped.
#[derive(Debug)]
pub(crate) struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

async fn run<F: Future<Output = ()>>(ticket: Ticket, future: F) {
    future.await;
    ticket.record.end_with(COMPLETED);
}

/// Panics without the noise of the panic hook.
pub(crate) fn throw() -> ! {
    std::panic::resume_unwind(Box::new("thrown by the soak"))
}

const RUNNING: u8 = 0;
const COMPLETED: u8 = 1;
const THROWN: u8 = 2;

/// How a task has ended, by its own account.
#[derive(Debug, Default)]
struct Record {
    outcome: AtomicU8,
    /// How often its future was dropped.
    dropped: AtomicUsize,
}

impl Record {
    fn end_with(&self, outcome: u8) {
        if self.outcome.swap(outcome, SeqCst) != RUNNING {
            fail("a task has ended twice");
        }
    }
}

/// What a task's future holds from the beginning to its drop.
struct Ticket {
    house: House,
    number: usize,
    record: Arc<Record>,
}

impl Ticket {
    #[track_caller]
    fn new(house: &House) -> Self {
        let number = house.shared.begun.fetch_add(1, SeqCst);
        house.shared.alive.lock().unwrap().insert(number, Location::caller());
        count(&LEDGER.tasks, 1);
        Self { house: house.clone(), number, record: Arc::default() }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.record.dropped.fetch_add(1, SeqCst) != 0 {
            fail("the future of a task was dropped twice");
        }
        match self.record.outcome.load(SeqCst) {
            COMPLETED => count(&LEDGER.completed, 1),
            THROWN => count(&LEDGER.panicked, 1),
            _ => count(&LEDGER.cancelled, 1),
        }
        if self.house.shared.alive.lock().unwrap().remove(&self.number).is_none() {
            fail("a task that was not alive has ended");
        }
    }
}

/// A task, and what is known about it. Dropping it detaches the task.
#[derive(Debug)]
pub(crate) struct Watched {
    house: House,
    record: Arc<Record>,
    handle: JoinHandle<()>,
}

impl Watched {
    /// Waits for the task, and returns whether it ran to its end. What the handle says has to agree
    /// with what the task did.
    pub(crate) async fn join(self) -> bool {
        let Self { house, record, handle } = self;
        let result = handle.await;
        let dropped = record.dropped.load(SeqCst);
        house.always(dropped == 1, "a handle is ready before its future is dropped");
        let outcome = record.outcome.load(SeqCst);
        let agrees = match &result {
            Ok(()) => outcome == COMPLETED,
            Err(error) if error.is_panic() => outcome == THROWN,
            Err(_) => outcome == RUNNING,
        };
        if !agrees {
            fail(&format!("a handle tells {result:?} of a task whose own account is {outcome}"));
        }
        result.is_ok()
    }

    pub(crate) fn abort_handle(&self) -> AbortHandle {
        self.handle.abort_handle()
    }

    /// Returns the plain handle.
    pub(crate) fn into_handle(self) -> JoinHandle<()> {
        self.handle
    }

    /// Aborts the task when the returned value is dropped.
    pub(crate) fn guard(&self) -> AbortOnDrop {
        AbortOnDrop(self.abort_handle())
    }
}

/// Aborts its task when dropped.
#[derive(Debug)]
pub(crate) struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Ends the process if the task of an inner handle has panicked: what the soak itself computes does not.
#[track_caller]
pub(crate) fn ended<T>(house: &House, result: Result<T, JoinError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            house.check(error.is_cancelled(), "a computation has panicked");
            house.check(!error.is_cancelled(), "a computation was cancelled without being aborted");
            None
        }
    }
}
