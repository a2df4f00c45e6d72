//! Jobs that nobody waits for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crate::registry::Registry;

/// Spawns a job on the current pool. A thread runs the newest of its jobs first.
///
/// If the job panics, the pool's panic handler is called; without one, the process is aborted.
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

/// Like [`spawn`], but a thread runs the oldest of its jobs first.
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
        // Jobs that come from outside are run in order.
        return spawn_in(registry, f);
    }
    let fifo = FIFO.with(Fifo::clone);
    let own = registry.clone();
    fifo.push(Box::new(move || own.catch(f)));
    spawn_in(registry, move || fifo.run_oldest());
}

type Boxed<'a> = Box<dyn FnOnce() + Send + 'a>;

/// The jobs of one thread. For each of them there is a job on the pool that runs the oldest one left here. So whatever
/// the order of the pool's jobs, these run in the order in which they came.
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
