//! What wakes the poller's thread and the worker in the seat. Timers hold it too, so that they can ring
//! for whoever sleeps until the next deadline.

use std::io;
use std::task::RawWakerVTable;

use windlass_timer::Driver;

use super::clock::Clock;
use super::sys::Selector;
use crate::primitives::{Arc, AtomicBool, Ordering};
use crate::task;

/// The OS, and what is known of those who wait there.
pub(super) struct Bell {
    pub(super) selector: Selector,
    pub(super) seated: AtomicBool,
    pub(super) kicked: AtomicBool,
}

impl Bell {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            selector: Selector::new()?,
            seated: AtomicBool::new(false),
            kicked: AtomicBool::new(false),
        })
    }

    pub(super) fn is_seated(&self) -> bool {
        self.seated.load(Ordering::Relaxed)
    }

    /// Has the thread return from its wait. However many kick, the OS is asked once.
    pub(super) fn kick(&self) {
        if !self.kicked.swap(true, Ordering::AcqRel) {
            self.selector.kick();
        }
    }
}

/// A runtime, as its timers see it.
pub(super) struct Ringer {
    pub(super) bell: Arc<Bell>,
    pub(super) clock: Arc<Clock>,
}

impl Driver for Ringer {
    fn now(&self) -> u64 {
        self.clock.now()
    }

    fn lasting(&self) -> u64 {
        self.clock.lasting()
    }

    fn own_wakers(&self) -> Option<&'static RawWakerVTable> {
        Some(task::waker_vtable())
    }

    fn ring(&self) {
        if self.bell.is_seated() {
            self.bell.selector.kick_seat();
        } else {
            self.bell.kick();
        }
    }
}
