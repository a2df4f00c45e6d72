//! The handle to a task's output.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use super::abort::AbortHandle;
use super::cell::{Output, drop_quietly};
use super::error::JoinError;
use super::header::Header;
use super::id::Id;
use super::state::JoinStep;
use super::waker;
use crate::coop;

/// Owns the output of a spawned task: await it to get the output or the [`JoinError`].
///
/// Dropping the handle **detaches** the task: it goes on, and its output is dropped when it ends.
/// To cancel a task, call [`abort`](Self::abort).
///
/// # Cancel safety
///
/// Awaiting through `&mut handle` can be given up at any time and taken up again.
///
/// # Panics
///
/// Polling it again after it gave its output panics.
///
/// # Examples
///
/// ```
/// let answer = windlass::block_on(async {
///     let handle = windlass::spawn(async { 6 * 7 });
///     handle.await.unwrap()
/// });
/// assert_eq!(answer, 42);
/// ```
pub struct JoinHandle<T> {
    header: NonNull<Header>,
    output: PhantomData<T>,
}

// SAFETY: the handle moves the output between threads at most, hence `T: Send`; all else goes
// through the atomic state.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle gives no access to the output.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Unpin for JoinHandle<T> {}
impl<T> std::panic::UnwindSafe for JoinHandle<T> {}
impl<T> std::panic::RefUnwindSafe for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    /// # Safety
    ///
    /// The caller gives the handle a reference to a task with join interest and output `T`.
    pub(crate) unsafe fn new(header: NonNull<Header>) -> Self {
        Self { header, output: PhantomData }
    }

    fn header(&self) -> &Header {
        // SAFETY: the handle's reference keeps the task alive.
        unsafe { self.header.as_ref() }
    }

    /// Cancels the task: its future is dropped by a worker at the next opportunity, at once if it
    /// is not being polled, and awaiting the handle gives a [`JoinError`] for which
    /// [`is_cancelled`](JoinError::is_cancelled) holds. A task that has ended, or ends with the poll
    /// it is in, is not affected. A closure given to `spawn_blocking` can't be interrupted; only one
    /// that has not begun is cancelled, and that when its turn comes: behind
    /// [`max_blocking`](crate::Builder::max_blocking) closures that are stuck, its handle waits for one of
    /// them.
    pub fn abort(&self) {
        // SAFETY: the handle has a reference.
        unsafe { waker::abort(self.header) }
    }

    /// True once the task has ended, by any of the ways there are.
    pub fn is_finished(&self) -> bool {
        self.header().state.load().is_complete()
    }

    /// A handle that can abort the task, but does not own its output.
    pub fn abort_handle(&self) -> AbortHandle {
        self.header().state.retain();
        // SAFETY: the reference was just taken for it.
        unsafe { AbortHandle::new(self.header) }
    }

    /// The task's id.
    pub fn id(&self) -> Id {
        self.header().id
    }

    /// Registers the waker, unless the task is complete.
    pub(super) fn register(&self, waker: &Waker) -> JoinStep {
        let header = self.header();
        let snapshot = header.state.load();
        if snapshot.is_complete() {
            return JoinStep::Complete;
        }
        if snapshot.has_join_waker() && header.state.unset_join_waker() == JoinStep::Complete {
            return JoinStep::Complete;
        }
        // SAFETY: JOIN_WAKER is clear, so the place is ours.
        let old = header.join_waker.with_mut(|place| match unsafe { &mut *place } {
            Some(current) if current.will_wake(waker) => None,
            place => place.replace(waker.clone()),
        });
        drop_quietly(old);
        header.state.set_join_waker()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        std::task::ready!(coop::poll_proceed(cx));
        if self.register(cx.waker()) == JoinStep::Done {
            return Poll::Pending;
        }
        coop::spend();
        let mut output: Option<Output<T>> = None;
        // SAFETY: COMPLETE was seen with our interest standing, so the output is ours, and it has
        // the type of `output`.
        unsafe { (self.header().vtable.take_output)(self.header, (&raw mut output).cast()) };
        Poll::Ready(output.expect("a JoinHandle was polled after it had given its output"))
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let header = self.header();
        if header.state.detach() {
            return;
        }
        let unused = match header.state.drop_join_interest() {
            // SAFETY: JOIN_WAKER is clear and the task will not set it: the place is ours.
            JoinStep::Done => header.join_waker.with_mut(|place| unsafe { (*place).take() }),
            JoinStep::Complete => {
                // SAFETY: COMPLETE was seen with our interest standing: the output is ours.
                unsafe { (header.vtable.drop_output)(self.header) };
                None
            }
        };
        drop_quietly(unused);
        // SAFETY: the handle's reference, which is not used again.
        unsafe { waker::release(self.header) }
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle")
            .field("id", &self.id())
            .field("finished", &self.is_finished())
            .finish()
    }
}
