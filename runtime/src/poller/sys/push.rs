//! Functions for backends whose events are taken by a thread that waits for them. A backend that brings its events to
//! the sources by itself has other versions of these functions: `windows/push.rs`.

use std::io;
use std::time::{Duration, Instant};

use windlass_sync::ManualResetEvent;

use super::{Descriptor, RawDescriptor, Selector};
use crate::poller::source::Source;
use crate::primitives::Arc;

/// True if the backend passes events to their sources and wakes their tasks by itself. Then there are no events to
/// take, and no worker takes the seat.
pub(crate) const PUSHES: bool = false;

/// The time for which the drop of a runtime waits for threads that have nothing left to do but end. If it is `None`,
/// they are waited for as long as the others.
pub(crate) const DROP_GRACE: Option<Duration> = None;

/// Registers a descriptor. The backend reports events with the token, or brings them to the source.
pub(crate) fn register(
    selector: &Selector,
    descriptor: Descriptor<'_>,
    token: u64,
    _source: &Arc<Source>,
) -> io::Result<()> {
    selector.register(descriptor, token)
}

/// Ends a registration.
pub(crate) fn deregister(selector: &Selector, descriptor: RawDescriptor, _token: u64) {
    selector.deregister(descriptor);
}

/// Returns an event that is set through the queue of the OS's thread pool, if the OS has one.
pub(crate) fn resume(_selector: &Selector) -> Option<io::Result<Arc<ManualResetEvent>>> {
    None
}

/// Ends what the OS still does for a runtime whose last thread has gone. Returns false if that takes longer than the
/// deadline; it is then ended later.
pub(crate) fn end(_selector: &Selector, _deadline: Option<Instant>) -> bool {
    true
}
