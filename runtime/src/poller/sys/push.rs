//! What a backend does that brings events to the sources by itself: nothing, for those that wait to be
//! harvested. This is their side of it; the other is in `windows/push.rs`.

use std::io;
use std::time::{Duration, Instant};

use windlass_sync::ManualResetEvent;

use super::{Descriptor, RawDescriptor, Selector};
use crate::poller::source::Source;
use crate::primitives::Arc;

/// True if the backend tells the sources, and wakes who waits, by itself: there is nothing to harvest
/// then, and nobody takes the seat or arms the gate.
pub(crate) const PUSHES: bool = false;

/// How long the drop of a runtime waits for threads that have nothing left to do but end; as long as for
/// the rest if there is none.
pub(crate) const DROP_GRACE: Option<Duration> = None;

/// Registers a descriptor; events come by the token, or else to the source.
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

/// Where the OS has a thread pool of its own: an event that is set by way of that pool's queue.
pub(crate) fn resume(_selector: &Selector) -> Option<io::Result<Arc<ManualResetEvent>>> {
    None
}

/// The runtime's last thread has gone: ends what the OS still does for it. False if that is not done by the
/// deadline; it is then, when it can be.
pub(crate) fn end(_selector: &Selector, _deadline: Option<Instant>) -> bool {
    true
}
