//! The connections that are open.

use std::collections::HashMap;
use std::future::Future;
use std::panic::Location;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_runtime::Straggler;
use windlass_runtime::task::{AbortHandle, Builder};
use windlass_sync::AutoResetEvent;

/// The connections that are open, each a task. Dropping it aborts them all.
#[derive(Debug, Default)]
pub(crate) struct Open {
    shared: Arc<Shared>,
    accepted: u64,
}

#[derive(Debug, Default)]
struct Shared {
    connections: Mutex<Connections>,
    /// Set when a connection ends. Only the server waits for it.
    ended: AutoResetEvent,
}

#[derive(Debug, Default)]
struct Connections {
    /// By number. The name is what the server calls it; the handle comes after the spawn.
    open: HashMap<u64, (String, Option<AbortHandle>)>,
    panicked: u64,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// Spawns the task of a connection.
    pub(crate) fn spawn(
        &mut self,
        name: String,
        connection: impl Future<Output = ()> + Send + 'static,
    ) {
        let number = self.accepted;
        self.accepted += 1;
        // It is listed before it can end, and its handle noted only if it has not.
        self.shared.lock().open.insert(number, (name.clone(), None));
        let entry = Entry { shared: self.shared.clone(), number };
        let task = Builder::new().name(name).spawn(async move {
            let _entry = entry;
            connection.await;
        });
        let handle = task.abort_handle();
        if let Some((_, place)) = self.shared.lock().open.get_mut(&number) {
            *place = Some(handle);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.shared.lock().open.len()
    }

    pub(crate) fn accepted(&self) -> u64 {
        self.accepted
    }

    pub(crate) fn panicked(&self) -> u64 {
        self.shared.lock().panicked
    }

    /// Waits for the end of a connection, or not if one has ended since the last time.
    pub(crate) async fn one_ended(&self) {
        self.shared.ended.wait().await;
    }

    /// Waits for the end of all connections.
    pub(crate) async fn all_ended(&self) {
        while self.len() > 0 {
            self.one_ended().await;
        }
    }

    /// Aborts all connections, and names them.
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

/// A connection's place in the list, which its task gives up at the end, whatever that is.
struct Entry {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let entry = {
            let mut connections = self.shared.lock();
            connections.panicked += u64::from(std::thread::panicking());
            connections.open.remove(&self.number)
        };
        // After the lock: the handle may be the last that knows the task.
        drop(entry);
        self.shared.ended.set();
    }
}
