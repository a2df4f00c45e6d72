//! The side of `push` that pushes: callbacks tell the sources.

use std::io;
use std::time::{Duration, Instant};

use windlass_sync::ManualResetEvent;

use super::{Descriptor, RawDescriptor, Selector, Shared};
use crate::poller::source::Source;
use crate::primitives::{Arc, thread};

/// There is nothing to harvest.
pub(crate) const PUSHES: bool = true;

/// No thread of the process can start or end while one runs the destructors of its thread-locals. A
/// runtime that is dropped by such a destructor would wait for its threads in vain, and everybody with it.
pub(crate) const DROP_GRACE: Option<Duration> = Some(Duration::from_millis(250));

/// Registers a descriptor; its events go to the source.
pub(crate) fn register(
    selector: &Selector,
    descriptor: Descriptor<'_>,
    token: u64,
    source: &Arc<Source>,
) -> io::Result<()> {
    let Shared { members, pool, .. } = &*selector.shared;
    members.lock().add(pool, descriptor, token, source)
}

/// Ends a registration: when this returns, no callback has to do with the descriptor any more.
pub(crate) fn deregister(selector: &Selector, descriptor: RawDescriptor, token: u64) {
    let shared = &selector.shared;
    // Gone already if the runtime has ended.
    let Some(member) = shared.members.lock().remove(descriptor, token) else { return };
    // Without the lock, for it may wait for a callback.
    let spare = member.rest();
    let surplus = spare.and_then(|wait| shared.members.lock().keep(wait));
    if let Some(wait) = surplus {
        wait.close();
    }
    let mut members = shared.members.lock();
    members.leaving -= 1;
    shared.look_if_quiet(&members);
}

/// An event that is set by a work item of the thread pool.
pub(crate) fn resume(selector: &Selector) -> Option<io::Result<Arc<ManualResetEvent>>> {
    Some(super::resume::submit(&selector.shared))
}

/// A callback that has nothing to do but to return gets so long for it, whatever the deadline.
const END_GRACE: Duration = Duration::from_millis(250);

/// Ends the callbacks: when this says true none runs, not even in a waker, and none will run. False if one
/// is still in a waker at the deadline, and on a callback's own thread, which would wait for itself.
pub(crate) fn end(selector: &Selector, deadline: Option<Instant>) -> bool {
    let own_thread = selector.shared.pool.is_own_thread();
    let Some(ended) = end_elsewhere(selector) else { return true };
    if own_thread {
        return false;
    }
    let Some(deadline) = deadline else {
        ended.wait_blocking();
        return true;
    };
    ended.wait_timeout(deadline.saturating_duration_since(Instant::now()).max(END_GRACE))
}

/// Has another thread end the callbacks, unless that was done: the OS knows no deadline for it. Gives what is
/// set when they have ended.
pub(super) fn end_elsewhere(selector: &Selector) -> Option<Arc<ManualResetEvent>> {
    let shared = selector.shared.clone();
    if shared.members.lock().ended {
        return None;
    }
    let ended = Arc::new(ManualResetEvent::new(false));
    let told = ended.clone();
    // If no thread is to be had, what the pool has of the OS is never given back.
    let kept = shared.clone();
    let end = move || {
        shared.end();
        drop(shared);
        told.set();
    };
    if thread::Builder::new().spawn(end).is_err() {
        std::mem::forget(kept);
    }
    Some(ended)
}
