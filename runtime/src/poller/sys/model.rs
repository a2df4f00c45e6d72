//! The backend of the models: no OS, but one that a model can have events of.
//!
//! It keeps the contract in `mod.rs` and promises nothing beyond it. An event is raised once and taken by
//! one harvest; a seat's kick counts as something to harvest, as it does with epoll. Two locks stand for
//! the two instances, so that whoever looks at the one is not put in order with those at the other; all
//! that waiters, workers and the thread know of each other besides rests on the code above.
//!
//! No deadline ever comes, unless it has come already.

use std::io;
use std::time::Duration;

use super::Woken;
use crate::poller::source::Readiness;
use crate::primitives::{Condvar, Mutex, thread};

/// A stand-in: a descriptor is a number of the model's choice.
pub type Descriptor<'a> = &'a RawDescriptor;
/// A stand-in.
pub type RawDescriptor = usize;

pub(crate) fn raw(descriptor: Descriptor<'_>) -> RawDescriptor {
    *descriptor
}

pub(crate) fn keep_time() {}

pub(crate) fn take_short_turns() {}

pub(crate) fn times_preempted() -> u64 {
    0
}

pub(crate) struct Selector {
    outer: Mutex<Outer>,
    outer_changed: Condvar,
    inner: Mutex<Inner>,
    inner_changed: Condvar,
}

/// What the poller's thread waits on.
#[derive(Default)]
struct Outer {
    kicked: bool,
    armed: bool,
    waiting: bool,
}

/// What is harvested.
#[derive(Default)]
struct Inner {
    registered: Vec<(RawDescriptor, u64)>,
    ready: Vec<(RawDescriptor, u64)>,
    kicked: bool,
}

impl Inner {
    fn is_ready(&self) -> bool {
        self.kicked || !self.ready.is_empty()
    }

    /// Gives what is counted, a kick included.
    fn take(&mut self, events: &mut Events) -> usize {
        events.0.clear();
        events.0.extend(self.ready.drain(..).map(|(_, token)| token));
        events.0.len() + usize::from(std::mem::take(&mut self.kicked))
    }
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
        Ok(Self {
            outer: Mutex::default(),
            outer_changed: Condvar::new(),
            inner: Mutex::default(),
            inner_changed: Condvar::new(),
        })
    }

    pub(crate) fn register(&self, descriptor: Descriptor<'_>, token: u64) -> io::Result<()> {
        self.inner.lock().registered.push((*descriptor, token));
        Ok(())
    }

    pub(crate) fn deregister(&self, descriptor: RawDescriptor) {
        let mut inner = self.inner.lock();
        inner.registered.retain(|&(registered, _)| registered != descriptor);
        inner.ready.retain(|&(ready, _)| ready != descriptor);
    }

    /// A descriptor becomes readable: what the OS does.
    pub(crate) fn raise(&self, descriptor: RawDescriptor) {
        {
            let mut inner = self.inner.lock();
            let event = inner.registered.iter().find(|&&(registered, _)| registered == descriptor);
            let event = event.copied();
            inner.ready.extend(event);
        }
        self.became_ready();
    }

    fn became_ready(&self) {
        self.inner_changed.notify_one();
        // Behind the look of one who waits, which holds this lock.
        drop(self.outer.lock());
        self.outer_changed.notify_one();
    }

    pub(crate) fn harvest(&self, events: &mut Events) -> io::Result<usize> {
        Ok(self.inner.lock().take(events))
    }

    pub(crate) fn sit(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<usize> {
        let mut inner = self.inner.lock();
        while !inner.is_ready() && timeout != Some(Duration::ZERO) {
            inner = self.inner_changed.wait(inner);
        }
        Ok(inner.take(events))
    }

    pub(crate) fn alarm(&self, _timeout: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn kick_seat(&self) {
        self.inner.lock().kicked = true;
        self.became_ready();
    }

    pub(crate) fn arm_gate(&self) -> io::Result<()> {
        self.outer.lock().armed = true;
        self.outer_changed.notify_one();
        Ok(())
    }

    /// As if the gate had fired and all been seen to; false if the thread is not at rest.
    pub(crate) fn shut_gate(&self) -> bool {
        let mut outer = self.outer.lock();
        outer.armed &= !outer.waiting;
        outer.waiting
    }

    pub(crate) fn wait(&self, timeout: Option<Duration>) -> io::Result<Woken> {
        if timeout.is_some() {
            // Others get on during a pause: there is no end of pauses otherwise.
            thread::yield_now();
        }
        let mut outer = self.outer.lock();
        loop {
            let gate = outer.armed && self.inner.lock().is_ready();
            if gate || outer.kicked || timeout == Some(Duration::ZERO) {
                outer.armed &= !gate;
                return Ok(Woken { gate, kicked: std::mem::take(&mut outer.kicked) });
            }
            outer.waiting = true;
            outer = self.outer_changed.wait(outer);
            outer.waiting = false;
        }
    }

    pub(crate) fn descriptor(&self) -> Descriptor<'_> {
        &0
    }

    pub(crate) fn kick(&self) {
        self.outer.lock().kicked = true;
        self.outer_changed.notify_one();
    }
}
