//! The set of open connections.

use std::collections::HashMap;
use std::future::Future;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_runtime::Straggler;
use windlass_runtime::task::{AbortHandle, Builder};
use windlass_sync::AutoResetEvent;

/// The open connections, each of which is a task, and the other entries that a server waits for. Dropping it aborts all
/// tasks.
#[derive(Debug)]
pub(crate) struct Open {
    shared: Arc<Shared>,
    accepted: u64,
}

/// The part that connections and switches share with the server.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    connections: Mutex<Connections>,
    /// Set when a connection or another entry ends. Only the server waits for it.
    ended: AutoResetEvent,
}

#[derive(Debug, Default)]
struct Connections {
    /// By number: the name for the report, and the handle of the task, which is set after the spawn.
    open: HashMap<u64, (String, Option<AbortHandle>)>,
    /// How many of them are connections.
    connections: usize,
    next: u64,
    panicked: u64,
    failed: u64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry other than a connection. The server waits until it is dropped.
    pub(crate) fn hold(self: &Arc<Self>, name: String) -> Entry {
        self.enter(name, false)
    }

    pub(crate) fn count_failed(&self) {
        self.lock().failed += 1;
    }

    fn enter(self: &Arc<Self>, name: String, is_connection: bool) -> Entry {
        let mut connections = self.lock();
        let number = connections.next;
        connections.next += 1;
        connections.connections += usize::from(is_connection);
        connections.open.insert(number, (name, None));
        Entry { shared: self.clone(), number, is_connection }
    }
}

impl Open {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, accepted: 0 }
    }

    /// Spawns the task of a connection.
    pub(crate) fn spawn(
        &mut self,
        name: String,
        connection: impl Future<Output = ()> + Send + 'static,
    ) {
        self.accepted += 1;
        // The task is added before it can end, and its handle is stored only if it has not ended.
        let entry = self.shared.enter(name.clone(), true);
        let number = entry.number;
        let task = Builder::new().name(name).spawn(async move {
            let _entry = entry;
            connection.await;
        });
        let handle = task.abort_handle();
        if let Some((_, place)) = self.shared.lock().open.get_mut(&number) {
            *place = Some(handle);
        }
    }

    /// Returns the number of open connections.
    pub(crate) fn connections(&self) -> usize {
        self.shared.lock().connections
    }

    pub(crate) fn accepted(&self) -> u64 {
        self.accepted
    }

    pub(crate) fn panicked(&self) -> u64 {
        self.shared.lock().panicked
    }

    pub(crate) fn failed(&self) -> u64 {
        self.shared.lock().failed
    }

    /// Waits until something has ended since the last call: a connection, or what else the server waits for.
    pub(crate) async fn one_ended(&self) {
        self.shared.ended.wait().await;
    }

    /// Waits until all connections and all other entries have ended.
    pub(crate) async fn all_ended(&self) {
        while !self.shared.lock().open.is_empty() {
            self.one_ended().await;
        }
    }

    /// Waits until all connections have ended.
    pub(crate) async fn connections_ended(&self) {
        while self.connections() > 0 {
            self.one_ended().await;
        }
    }

    /// Aborts all connections, and returns their names and those of the other entries.
    pub(crate) fn abort_all(&self, location: &'static Location<'static>) -> Vec<Straggler> {
        let open: Vec<_> = self.shared.lock().open.values().cloned().collect();
        open.into_iter()
            .map(|(name, handle)| {
                if let Some(handle) = handle {
                    handle.abort();
                }
                Straggler::named(name, location)
            })
            .collect()
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.abort_all(Location::caller());
    }
}

/// A member of the set, owned by the task of a connection and dropped when that ends in any way.
#[derive(Debug)]
pub(crate) struct Entry {
    shared: Arc<Shared>,
    number: u64,
    is_connection: bool,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let entry = {
            let mut connections = self.shared.lock();
            // A hold in the task of a connection is dropped by the same panic.
            let panicked = self.is_connection && std::thread::panicking();
            connections.panicked += u64::from(panicked);
            connections.connections -= usize::from(self.is_connection);
            connections.open.remove(&self.number)
        };
        // After the lock, because the handle may be the last reference to the task.
        drop(entry);
        self.shared.ended.set();
    }
}
