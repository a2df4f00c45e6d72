//! Waiting on the current thread: one cached [`Parker`] a thread, and a bare `block_on`.
//!
//! The parker is taken out of its thread-local cell for as long as it is in use. A nested wait
//! (a future polled by [`block_on`] that itself blocks) therefore finds the cell empty and makes
//! its own, as does a wait in a thread whose thread-locals are already gone. A token left behind
//! by a waker that outlived its wait is harmless: everything here parks in a loop.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::Parker;

/// A parker and the waker that unparks it.
struct ThreadParker {
    parker: Parker,
    waker: Waker,
}

impl ThreadParker {
    fn new() -> Self {
        let parker = Parker::new();
        let waker = parker.unparker().into();
        Self { parker, waker }
    }
}

#[cfg(not(loom))]
mod cache {
    use super::ThreadParker;
    use std::cell::Cell;

    thread_local! {
        static CACHED: Cell<Option<ThreadParker>> = const { Cell::new(None) };
    }

    pub(super) fn take() -> Option<ThreadParker> {
        CACHED.try_with(Cell::take).ok().flatten()
    }

    pub(super) fn put(parker: ThreadParker) {
        // Fails only when the thread's locals are gone; the parker is dropped then.
        let _ = CACHED.try_with(|cached| cached.set(Some(parker)));
    }
}

/// All threads of a model share one OS thread, so a cache would mix them up.
#[cfg(loom)]
mod cache {
    use super::ThreadParker;

    pub(super) fn take() -> Option<ThreadParker> {
        None
    }

    pub(super) fn put(_: ThreadParker) {}
}

/// Runs `f` with a parker that nobody else parks on, and its waker.
pub(crate) fn with_parker<R>(f: impl FnOnce(&Parker, &Waker) -> R) -> R {
    let mine = cache::take().unwrap_or_else(ThreadParker::new);
    let result = f(&mine.parker, &mine.waker);
    cache::put(mine);
    result
}

/// Polls `future` to its end on the current thread, which parks in between.
///
/// Needs no runtime and drives none: whatever the future waits for must be signalled by another
/// thread or by its own doing.
///
/// # Panics
///
/// When the future does.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    with_parker(|parker, waker| {
        let mut context = Context::from_waker(waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            parker.park();
        }
    })
}
