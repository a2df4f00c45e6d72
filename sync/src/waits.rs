//! Lets futures report what they wait for, so that the runtime can list it for each task.
//!
//! Like [`budget`](crate::budget), it lies below everything that uses it. The futures of this crate and of the timers
//! call [`note`], and a runtime sets, once per process, what that call does. Without a runtime it does nothing.

use std::sync::OnceLock;

/// The thing that a future which has just returned `Pending` waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// An event.
    Event,
    /// A latch.
    Latch,
    /// A cancellation token.
    Cancellation,
    /// A timer, with its deadline in nanoseconds since the timers' epoch.
    Timer(u64),
}

static NOTE: OnceLock<fn(WaitsFor)> = OnceLock::new();

/// Sets what [`note`] calls. Only the first call has an effect.
pub fn set_note(note: fn(WaitsFor)) {
    let _ = NOTE.set(note);
}

/// Notes that the current task waits for this.
#[inline]
pub fn note(waits_for: WaitsFor) {
    if let Some(note) = NOTE.get() {
        note(waits_for);
    }
}
