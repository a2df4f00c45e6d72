//! Jobs that nobody waits for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::registry::Registry;

/// Spawns a job on the current pool. Of the jobs of one thread, the newest is run first by that thread.
///
/// A panic of the job goes to the pool's panic handler; without one, the process is aborted.
///
/// # Examples
///
/// ```
/// let (sender, receiver) = std::sync::mpsc::channel();
/// rayon_core::spawn(move || sender.send(22).unwrap());
/// assert_eq!(receiver.recv(), Ok(22));
/// ```
pub fn spawn<F>(f: F)
where
    F: FnOnce() + Send + 'static,
{
    spawn_in(&Registry::current(), f);
}

/// As [`spawn`]; of the jobs of one thread, the oldest is run first.
pub fn spawn_fifo<F>(f: F)
where
    F: FnOnce() + Send + 'static,
{
    spawn_fifo_in(&Registry::current(), f);
}

pub(crate) fn spawn_in<F>(registry: &Registry, f: F)
where
    F: FnOnce() + Send + 'static,
{
    let (keeper, own) = (registry.keeper(), registry.clone());
    let job = move || {
        own.catch(f);
        drop(keeper);
    };
    // SAFETY: it borrows nothing.
    unsafe { registry.post(job) };
}

pub(crate) fn spawn_fifo_in<F>(registry: &Registry, f: F)
where
    F: FnOnce() + Send + 'static,
{
    thread_local! {
        static FIFO: Fifo<'static> = Fifo::default();
    }
    if !registry.handle().is_current() {
        // Those that come from outside are served in order.
        return spawn_in(registry, f);
    }
    let fifo = FIFO.with(Fifo::clone);
    let own = registry.clone();
    fifo.push(Box::new(move || own.catch(f)));
    spawn_in(registry, move || fifo.run_oldest());
}

type Boxed<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Jobs of one thread. For each there is a job on the pool that runs the oldest of those left: so
/// whatever order those are run in, these are run in the order in which they came.
#[derive(Clone, Default)]
pub(crate) struct Fifo<'a>(Arc<Mutex<VecDeque<Boxed<'a>>>>);

impl<'a> Fifo<'a> {
    pub(crate) fn push(&self, job: Boxed<'a>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(job);
    }

    pub(crate) fn run_oldest(&self) {
        let oldest = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        oldest.expect("there is one for each that is run")();
    }
}
