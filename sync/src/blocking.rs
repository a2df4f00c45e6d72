//! Blocking the current thread: a cached [`Parker`] for each thread, and a minimal `block_on`.
//!
//! The parker is taken out of its thread-local cell while it is in use. So a nested wait (a future polled by
//! [`block_on`] that itself blocks) finds the cell empty and makes its own parker, and so does a wait in a thread whose
//! thread-locals have been destroyed. A token left behind by a waker that outlived its wait is harmless, because
//! everything here parks in a loop.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::ptr;
use std::task::{Context, Poll, RawWakerVTable, Waker};

use crate::Parker;
use crate::primitives::plain::{AtomicPtr, Ordering as Plain};

/// A parker and the waker that unparks it.
struct ThreadParker {
    parker: Parker,
    waker: Waker,
}

impl ThreadParker {
    fn new() -> Self {
        let parker = Parker::new();
        let waker = Waker::from(parker.unparker());
        THREAD_WAKERS.store(ptr::from_ref(waker.vtable()).cast_mut(), Plain::Relaxed);
        Self { parker, waker }
    }
}

thread_local! {
    // Empty in models: all threads of a model share one OS thread, so they would share the parker.
    static CACHED: Cell<Option<ThreadParker>> = const { Cell::new(None) };
}

/// The vtable of the wakers above.
static THREAD_WAKERS: AtomicPtr<RawWakerVTable> = AtomicPtr::new(ptr::null_mut());

/// Returns true if [`block_on`] has made `waker`, which then unparks a thread and neither blocks nor panics. May return
/// false for such a waker too.
///
/// ```
/// use std::task::{Poll, Waker};
///
/// let thread_waker = windlass_sync::block_on(std::future::poll_fn(|cx| {
///     Poll::Ready(windlass_sync::is_thread_waker(cx.waker()))
/// }));
/// assert!(thread_waker);
/// assert!(!windlass_sync::is_thread_waker(Waker::noop()));
/// ```
pub fn is_thread_waker(waker: &Waker) -> bool {
    ptr::eq(waker.vtable(), THREAD_WAKERS.load(Plain::Relaxed))
}

/// Calls `f` with a parker that nobody else uses, and with its waker.
pub(crate) fn with_parker<R>(f: impl FnOnce(&Parker, &Waker) -> R) -> R {
    let mine = CACHED.try_with(Cell::take).ok().flatten().unwrap_or_else(ThreadParker::new);
    let result = f(&mine.parker, &mine.waker);
    if cfg!(not(loom)) {
        // Fails only if the thread-locals have been destroyed. Then the parker is dropped.
        let _ = CACHED.try_with(|cached| cached.set(Some(mine)));
    }
    result
}

/// Runs `future` to completion on the current thread, which parks while the future is pending.
///
/// It needs no runtime and drives none: another thread has to signal what the future waits for.
///
/// # Panics
///
/// Panics if the future panics.
///
/// ```
/// assert_eq!(windlass_sync::block_on(async { 7 }), 7);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    block_on_parking(future, Parker::park)
}

/// Like [`block_on`], but for a thread that has something to do while the future is pending: `park` must return once it
/// has taken a token.
///
/// ```
/// let mut parked = 0;
/// let event = windlass_sync::AutoResetEvent::new(false);
/// windlass_sync::block_on_parking(event.wait(), |parker| {
///     parked += 1;
///     event.set();
///     parker.park();
/// });
/// assert_eq!(parked, 1);
/// ```
pub fn block_on_parking<F: Future>(future: F, mut park: impl FnMut(&Parker)) -> F::Output {
    let mut future = pin!(future);
    with_parker(|parker, waker| {
        let mut context = Context::from_waker(waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            park(parker);
        }
    })
}
