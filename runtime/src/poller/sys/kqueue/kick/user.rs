//! A user event, which the kernel keeps until it is taken, and then forgets.

use std::io;

use super::super::native::{self, EV_ADD, EV_CLEAR, Event, Flags};
use super::super::queue::Queue;

/// The one entry for kicks in a queue.
pub(in super::super) struct Kick;

impl Kick {
    /// Adds the entry.
    pub(in super::super) fn new(queue: &Queue, token: u64) -> io::Result<Self> {
        queue.change(&[entry(EV_ADD | EV_CLEAR, 0, token)])?;
        Ok(Self)
    }

    /// Kicks the queue that the entry is in.
    pub(in super::super) fn send(&self, queue: &Queue, token: u64) {
        // Fails only if the queue is broken beyond repair. It needs the token, because a change also changes `udata`.
        let _ = queue.change(&[entry(0, native::NOTE_TRIGGER, token)]);
    }

    /// Called after a wait has reported the kick.
    pub(in super::super) fn received(&self) {}
}

fn entry(flags: Flags, fflags: u32, token: u64) -> Event {
    let mut event = native::empty();
    // User events have their own names, and only one is needed here.
    event.ident = 0;
    event.filter = native::EVFILT_USER;
    event.flags = flags;
    event.fflags = fflags;
    event.udata = token as usize as *mut libc::c_void;
    event
}
