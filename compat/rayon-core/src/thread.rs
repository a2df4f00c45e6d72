//! The threads of a pool, and how they are started.

use std::{fmt, io, thread};

use crate::registry::Registry;
use crate::support::ThreadStart;

/// A thread of a pool that is about to start: call [`run`](Self::run) on that thread.
pub struct ThreadBuilder {
    index: usize,
    name: Option<String>,
    stack_size: Option<usize>,
    /// The runtime's part. If it is dropped, the pool has one thread less, but can still end.
    run: Box<dyn FnOnce() + Send>,
    registry: Registry,
}

impl ThreadBuilder {
    pub(crate) fn new(
        start: ThreadStart,
        name: Option<String>,
        stack_size: Option<usize>,
        registry: Registry,
    ) -> Self {
        let ThreadStart { index, run, .. } = start;
        Self { index, name, stack_size, run, registry }
    }

    /// Returns the index of the thread in its pool.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the name that was chosen by [`ThreadPoolBuilder::thread_name`](crate::ThreadPoolBuilder::thread_name).
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the size that was chosen by [`ThreadPoolBuilder::stack_size`](crate::ThreadPoolBuilder::stack_size).
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Serves the pool on the current thread until the pool ends. After that, the thread no longer belongs to the pool.
    pub fn run(self) {
        let _entered = self.registry.enter();
        (self.run)();
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.index)
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

/// Starts the threads of a pool.
pub trait ThreadSpawn {
    #[doc(hidden)]
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;

    /// Returns true if the runtime can start the threads itself.
    #[doc(hidden)]
    fn is_default(&self) -> bool {
        false
    }
}

/// Starts threads with the standard library.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        let mut builder = thread::Builder::new();
        if let Some(name) = thread.name() {
            builder = builder.name(name.to_owned());
        }
        if let Some(bytes) = thread.stack_size() {
            builder = builder.stack_size(bytes);
        }
        builder.spawn(|| thread.run()).map(drop)
    }

    fn is_default(&self) -> bool {
        true
    }
}

/// Starts threads with a closure.
#[derive(Debug)]
pub struct CustomSpawn<F>(pub(crate) F);

impl<F: FnMut(ThreadBuilder) -> io::Result<()>> ThreadSpawn for CustomSpawn<F> {
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}
