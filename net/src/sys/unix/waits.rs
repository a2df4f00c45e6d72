//! How tasks wait for an event that is a descriptor.

use std::io;

use windlass_runtime::io::{Direction, Registration};
use windlass_sync::primitives::{Arc, Mutex};

use super::{Event, descriptor};

/// The registration of an event, made when somebody first has to wait, and anew after the end of the runtime that had
/// it.
#[derive(Debug)]
pub(crate) struct EventWaits {
    /// Locked to register, too: the OS takes a descriptor once.
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
