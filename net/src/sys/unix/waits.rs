//! The waits of tasks for an event that is a descriptor.

use std::io;

use windlass_runtime::io::{Direction, Registration};
use windlass_sync::primitives::{Arc, Mutex};

use super::{Event, descriptor};

/// The registration of an event. It is created when a task first has to wait, and anew after the runtime that it
/// belonged to has shut down.
#[derive(Debug)]
pub(crate) struct EventWaits {
    /// Also locked during registration, because the OS accepts a descriptor only once.
    registration: Mutex<Option<Arc<Registration>>>,
}

impl Default for EventWaits {
    fn default() -> Self {
        Self { registration: Mutex::new(None) }
    }
}

impl EventWaits {
    /// Waits for a signal and takes it.
    pub(crate) async fn wait(&self, event: &Event) -> io::Result<()> {
        self.registration(event)?.io(Direction::Read, || event.take()).await
    }

    fn registration(&self, event: &Event) -> io::Result<Arc<Registration>> {
        let mut current = self.registration.lock();
        if let Some(registration) = current.as_ref().filter(|registration| !registration.is_gone())
        {
            return Ok(registration.clone());
        }
        let registration = Arc::new(Registration::new(descriptor(event))?);
        let gone = current.replace(registration.clone());
        drop(current);
        drop(gone);
        Ok(registration)
    }
}
