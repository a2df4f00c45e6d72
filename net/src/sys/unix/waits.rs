//! How tasks wait for an event that is a descriptor.

use std::io;
use std::sync::OnceLock;

use windlass_runtime::io::{Direction, Registration};
use windlass_sync::primitives::Mutex;

use super::{Event, descriptor};

/// The registration of an event, made when somebody first has to wait.
#[derive(Debug)]
pub(crate) struct EventWaits {
    registration: OnceLock<Registration>,
    // Held to register: the OS takes a descriptor once.
    registering: Mutex<()>,
}

impl Default for EventWaits {
    fn default() -> Self {
        Self { registration: OnceLock::new(), registering: Mutex::new(()) }
    }
}

impl EventWaits {
    /// Waits for a signal and takes it.
    pub(crate) async fn wait(&self, event: &Event) -> io::Result<()> {
        self.registration(event)?.io(Direction::Read, || event.take()).await
    }

    fn registration(&self, event: &Event) -> io::Result<&Registration> {
        if let Some(registration) = self.registration.get() {
            return Ok(registration);
        }
        let _registering = self.registering.lock();
        if let Some(registration) = self.registration.get() {
            return Ok(registration);
        }
        let registration = Registration::new(descriptor(event))?;
        Ok(self.registration.get_or_init(|| registration))
    }
}
