//! The backend of the models: no OS, only the thread that waits and those that kick it.

use std::io;
use std::time::Duration;

use super::Woken;
use crate::poller::source::Readiness;
use crate::primitives::{Condvar, Mutex};

/// A stand-in; models make no sources through the backend.
pub type Descriptor<'a> = &'a ();
/// A stand-in.
pub type RawDescriptor = ();

pub(crate) fn raw(_descriptor: Descriptor<'_>) -> RawDescriptor {}

pub(crate) fn keep_time() {}

pub(crate) struct Selector {
    kicked: Mutex<bool>,
    changed: Condvar,
    seat_kicked: Mutex<bool>,
    seat_changed: Condvar,
}

pub(crate) struct Events;

impl Events {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Readiness)> {
        std::iter::empty()
    }
}

impl Selector {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            kicked: Mutex::new(false),
            changed: Condvar::new(),
            seat_kicked: Mutex::new(false),
            seat_changed: Condvar::new(),
        })
    }

    pub(crate) fn register(&self, _descriptor: Descriptor<'_>, _token: u64) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn deregister(&self, _descriptor: RawDescriptor) {}

    pub(crate) fn harvest(&self, _events: &mut Events) -> io::Result<usize> {
        Ok(0)
    }

    /// The time never runs out, unless it is over at once.
    pub(crate) fn sit(&self, _events: &mut Events, timeout: Option<Duration>) -> io::Result<usize> {
        let mut kicked = self.seat_kicked.lock();
        while !*kicked && timeout != Some(Duration::ZERO) {
            kicked = self.seat_changed.wait(kicked);
        }
        *kicked = false;
        Ok(0)
    }

    pub(crate) fn alarm(&self, _timeout: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn kick_seat(&self) {
        *self.seat_kicked.lock() = true;
        self.seat_changed.notify_one();
    }

    pub(crate) fn arm_gate(&self) -> io::Result<()> {
        Ok(())
    }

    /// As for `sit`.
    pub(crate) fn wait(&self, timeout: Option<Duration>) -> io::Result<Woken> {
        let mut kicked = self.kicked.lock();
        while !*kicked && timeout != Some(Duration::ZERO) {
            kicked = self.changed.wait(kicked);
        }
        let kicked = std::mem::replace(&mut *kicked, false);
        Ok(Woken { gate: false, kicked })
    }

    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        &()
    }

    pub(crate) fn kick(&self) {
        *self.kicked.lock() = true;
        self.changed.notify_one();
    }
}
