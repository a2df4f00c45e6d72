//! Runs code whose panics must not go any further: destructors and wakers of users.

use std::any::Any;
use std::mem;
use std::panic::{self, AssertUnwindSafe};

/// Runs `f` and discards its panic.
#[inline]
pub fn quietly(f: impl FnOnce()) {
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(f)) {
        drop_payload(payload);
    }
}

/// Drops a value and discards a panic of its drop.
pub fn drop_quietly<T>(value: T) {
    quietly(|| drop(value));
}

/// Drops a panic's payload, whose drop may panic with another payload, and so on. The third in a row is leaked.
#[cold]
fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        if let Err(third) = panic::catch_unwind(AssertUnwindSafe(|| drop(second))) {
            mem::forget(third);
        }
    }
}
