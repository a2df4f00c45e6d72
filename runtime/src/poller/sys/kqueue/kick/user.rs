//! A user event: the kernel keeps it until it is taken, and forgets it then.

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
        // Fails only if the queue is broken beyond repair. The token, because a change is one of
        // `udata` too.
        let _ = queue.change(&[entry(0, native::NOTE_TRIGGER, token)]);
    }

    /// A wait has reported the kick.
    pub(in super::super) fn received(&self) {}
}

fn entry(flags: Flags, fflags: u32, token: u64) -> Event {
    let mut event = native::empty();
    // User events have names of their own, and need no more than one here.
    event.ident = 0;
    event.filter = native::EVFILT_USER;
    event.flags = flags;
    event.fflags = fflags;
    event.udata = token as usize as *mut libc::c_void;
    event
}
