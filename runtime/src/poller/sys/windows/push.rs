//! The functions of `push.rs` for callbacks, which bring events to the sources by themselves.

use std::io;
use std::time::{Duration, Instant};

use windlass_sync::ManualResetEvent;

use super::{Descriptor, RawDescriptor, Selector, Shared};
use crate::poller::source::Source;
use crate::poller::sys::policy::{CALLBACK_RETURN, DROP_WAIT};
use crate::primitives::{Arc, thread};

/// There are no events to take.
pub(crate) const PUSHES: bool = true;

/// A runtime may be dropped where none of its threads can end.
pub(crate) const DROP_GRACE: Option<Duration> = Some(DROP_WAIT);

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

/// Ends a registration: when this returns, no callback uses the descriptor any more.
pub(crate) fn deregister(selector: &Selector, descriptor: RawDescriptor, token: u64) {
    let shared = &selector.shared;
    // Gone already if the runtime has ended.
    let Some(member) = shared.members.lock().remove(descriptor, token) else { return };
    // Without the lock, because it may wait for a callback.
    let spare = member.rest();
    let surplus = spare.and_then(|wait| shared.members.lock().keep(wait));
    if let Some(wait) = surplus {
        wait.close();
    }
    let mut members = shared.members.lock();
    members.leaving -= 1;
    shared.look_if_quiet(&members);
}

/// Returns an event that is set by a work item of the thread pool.
pub(crate) fn resume(selector: &Selector) -> Option<io::Result<Arc<ManualResetEvent>>> {
    Some(super::resume::submit(&selector.shared))
}

/// Ends the callbacks. Returns true once no callback runs or will run. Returns false if one is still in a waker at the
/// deadline, or is due and has no thread to run on; and on a callback's own thread, which would wait for itself. Then
/// another thread continues to wait.
pub(crate) fn end(selector: &Selector, deadline: Option<Instant>) -> bool {
    let shared = &selector.shared;
    if !shared.begin_end() {
        return true;
    }
    if shared.pool.is_own_thread() || !is_quiet_by(shared, deadline) {
        let _ = finish_elsewhere(shared);
        return false;
    }
    // No thread of the pool is blocked, and callbacks that come now find nobody to wake, so this takes only a moment.
    // But the OS knows no deadline, and a callback that is due may have no thread to begin on, as in the destructor of
    // a thread-local, where none can start.
    let finished = finish_elsewhere(shared);
    match with_grace(deadline) {
        Some(deadline) => finished.wait_timeout(deadline.saturating_duration_since(Instant::now())),
        None => {
            finished.wait_blocking();
            true
        }
    }
}

fn with_grace(deadline: Option<Instant>) -> Option<Instant> {
    let grace = Instant::now() + CALLBACK_RETURN;
    deadline.map(|deadline| deadline.max(grace))
}

/// Waits for the callbacks that are in a waker. That is rare, so it only checks now and then.
fn is_quiet_by(shared: &Shared, deadline: Option<Instant>) -> bool {
    let deadline = with_grace(deadline);
    while !shared.is_quiet() {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Has another thread end the callbacks, unless that was done already.
pub(super) fn end_elsewhere(selector: &Selector) {
    if selector.shared.begin_end() {
        let _ = finish_elsewhere(&selector.shared);
    }
}

/// Has another thread wait for the last callback; the event is set when it has returned.
fn finish_elsewhere(shared: &Arc<Shared>) -> Arc<ManualResetEvent> {
    let (shared, kept) = (shared.clone(), shared.clone());
    let finished = Arc::new(ManualResetEvent::new(false));
    let done = finished.clone();
    let finish = move || {
        shared.finish_end();
        // Before the thread that waits goes on: it may count the OS's objects.
        drop(shared);
        done.set();
    };
    // If no thread is available, the pool's OS resources are never released.
    if thread::Builder::new().spawn(finish).is_err() {
        std::mem::forget(kept);
    }
    finished
}
