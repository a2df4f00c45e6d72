//! The threads of one runtime: started, counted, awaited at the end.

use std::io;
use std::time::{Duration, Instant};

use crate::primitives::{Condvar, Mutex, thread};

type SpawnThread =
    dyn Fn(usize, String, Option<usize>, Box<dyn FnOnce() + Send>) -> io::Result<()> + Send + Sync;

/// Starts the thread of the worker with a given index, in place of us.
#[derive(Clone)]
pub(crate) struct Spawner(pub(crate) std::sync::Arc<SpawnThread>);

impl std::panic::UnwindSafe for Spawner {}
impl std::panic::RefUnwindSafe for Spawner {}

windlass_sync::opaque_debug!([] Spawner);

/// All threads that a runtime has started and that have not been joined.
#[derive(Default)]
pub(crate) struct Threads {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    /// Without a handle if the program's spawner started the thread.
    handles: Vec<(u64, Option<thread::JoinHandle<()>>)>,
    /// Handles of threads that have ended, to be joined; collected only at the runtime's end.
    ended: Vec<thread::JoinHandle<()>>,
    ending: bool,
    next: u64,
    /// Threads that have more to do than to run the destructors of their thread-locals.
    busy: usize,
    /// A thread is waiting that will not wait as long for those destructors.
    graceful: bool,
}

impl Threads {
    /// Starts a thread. `body` gets a number. The thread must call `done`, and `ended` with this number at the very
    /// end.
    pub(crate) fn start(
        &self,
        spawner: Option<(&Spawner, usize)>,
        name: String,
        stack_size: Option<usize>,
        body: impl FnOnce(u64) + Send + 'static,
    ) -> io::Result<()> {
        // Held across the start, so that the thread can't end before its handle is in the list.
        let mut inner = self.inner.lock();
        let id = inner.next;
        let handle = match spawner {
            None => {
                let mut builder = thread::Builder::new().name(name);
                if let Some(bytes) = stack_size {
                    builder = builder.stack_size(bytes);
                }
                Some(builder.spawn(move || body(id))?)
            }
            Some((Spawner(spawn), index)) => {
                spawn(index, name, stack_size, Box::new(move || body(id)))?;
                None
            }
        };
        inner.next += 1;
        inner.busy += 1;
        inner.handles.push((id, handle));
        Ok(())
    }

    /// Called by a thread that has nothing left to run but the destructors of its thread-locals.
    pub(crate) fn done(&self) {
        let mut inner = self.inner.lock();
        inner.busy -= 1;
        if inner.busy == 0 && inner.graceful {
            self.changed.notify_all();
        }
    }

    /// Called by a thread as its last act, except that it drops what it holds of the runtime.
    pub(crate) fn ended(&self, id: u64) {
        let mut inner = self.inner.lock();
        if let Some(index) = inner.handles.iter().position(|(other, _)| *other == id) {
            let (_, handle) = inner.handles.swap_remove(index);
            if inner.ending {
                inner.ended.extend(handle);
            }
        }
        let was_last = inner.handles.is_empty();
        // Without the lock, because the thread that is woken takes it first.
        drop(inner);
        if was_last {
            self.changed.notify_all();
        }
    }

    /// Keeps the handles of threads that end from now on, to be joined.
    pub(crate) fn begin_end(&self) {
        self.inner.lock().ending = true;
    }

    /// Waits until all threads have ended, or until the deadline; then joins those that have. If there is a `grace`, it
    /// waits for no longer than that once all threads are done. Returns true if none is left.
    pub(crate) fn join_all(&self, deadline: Option<Instant>, grace: Option<Duration>) -> bool {
        let mut inner = self.inner.lock();
        inner.graceful |= grace.is_some();
        let mut all_done = None;
        while !inner.handles.is_empty() {
            let mut until = deadline;
            if let (0, Some(grace)) = (inner.busy, grace) {
                let grace_ends = *all_done.get_or_insert_with(Instant::now) + grace;
                until = Some(until.map_or(grace_ends, |until| until.min(grace_ends)));
            }
            inner = match until {
                None => self.changed.wait(inner),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    self.changed.wait_timeout(inner, left).0
                }
            };
        }
        let none_left = inner.handles.is_empty();
        // Stragglers are detached. The others are joined without the lock: their thread-locals'
        // destructors run user code, which may come here.
        inner.handles.clear();
        let ended = std::mem::take(&mut inner.ended);
        drop(inner);
        for handle in ended {
            let _ = handle.join();
        }
        none_left
    }
}
