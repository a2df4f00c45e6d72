//! The backend for models: a simulated OS whose events the model raises.
//!
//! It keeps the contract in `mod.rs` and promises nothing beyond it. An event is raised once and taken by one wait.
//! Everything else that waiters, workers and the poller's thread know of each other depends on the code above.
//!
//! No deadline ever comes, unless it has already passed.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use crate::poller::source::Readiness;
use crate::primitives::{Condvar, Mutex};

pub(crate) use super::Untold as RunDelay;

/// A stand-in: a descriptor is a number of the model's choice.
pub type Descriptor<'a> = &'a RawDescriptor;
/// A stand-in.
pub type RawDescriptor = usize;

pub(crate) fn raw(descriptor: Descriptor<'_>) -> RawDescriptor {
    *descriptor
}

pub(crate) fn number(descriptor: RawDescriptor) -> u32 {
    descriptor as u32
}

/// A model takes no time.
pub(crate) fn cpu_time_of_thread() -> Option<Duration> {
    None
}

pub(crate) fn peer(_number: u32) -> Option<SocketAddr> {
    None
}

pub(crate) fn keep_time() {}

pub(crate) fn keeping_time<R>(f: impl FnOnce() -> R) -> R {
    f()
}

pub(crate) fn take_short_slices() {}

#[derive(Default)]
pub(crate) struct Selector {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    registered: Vec<(RawDescriptor, u64)>,
    ready: Vec<(RawDescriptor, u64)>,
    kicked: bool,
}

pub(crate) struct Events(Vec<u64>);

impl Events {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Readiness)> {
        let readable = Readiness { read: true, ..Readiness::default() };
        self.0.iter().map(move |&token| (token, readable))
    }
}

impl Selector {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self::default())
    }

    pub(crate) fn register(&self, descriptor: Descriptor<'_>, token: u64) -> io::Result<()> {
        self.state.lock().registered.push((*descriptor, token));
        Ok(())
    }

    pub(crate) fn deregister(&self, descriptor: RawDescriptor) {
        let mut state = self.state.lock();
        state.registered.retain(|&(registered, _)| registered != descriptor);
        state.ready.retain(|&(ready, _)| ready != descriptor);
    }

    /// Makes a descriptor readable, as the OS does.
    pub(crate) fn raise(&self, descriptor: RawDescriptor) {
        let mut state = self.state.lock();
        let event = state.registered.iter().find(|&&(registered, _)| registered == descriptor);
        let event = event.copied();
        state.ready.extend(event);
        drop(state);
        self.changed.notify_one();
    }

    pub(crate) fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let mut state = self.state.lock();
        while state.ready.is_empty() && !state.kicked && timeout != Some(Duration::ZERO) {
            state = self.changed.wait(state);
        }
        state.kicked = false;
        events.0.clear();
        events.0.extend(state.ready.drain(..).map(|(_, token)| token));
        Ok(())
    }

    pub(crate) fn kick(&self) {
        self.state.lock().kicked = true;
        self.changed.notify_one();
    }

    pub(crate) fn alarm(&self, _timeout: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        &0
    }
}
