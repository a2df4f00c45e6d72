//! The handle to a task's output.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

use super::abort::AbortHandle;
use super::cell::Output;
use super::drop_quietly;
use super::error::JoinError;
use super::header::Header;
use super::id::Id;
use super::state::JoinStep;
use super::waits::{Waits, half};
use super::waker;
use crate::coop;

/// Owns the output of a spawned task. Awaiting it returns the output or a [`JoinError`].
///
/// Dropping the handle **detaches** the task: it continues, and its output is dropped when it ends. To cancel a task,
/// call [`abort`](Self::abort).
///
/// # Cancel safety
///
/// Awaiting `&mut handle` can be cancelled at any time and started again.
///
/// # Panics
///
/// Panics if it is polled again after it has returned the output.
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
    /// Our reference to the task.
    task: ManuallyDrop<AbortHandle>,
    output: PhantomData<T>,
}

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
        // SAFETY: the caller gives it the reference.
        let task = ManuallyDrop::new(unsafe { AbortHandle::new(header) });
        Self { task, output: PhantomData }
    }

    /// Cancels the task. A worker drops its future, at once if it is not being polled, and awaiting the handle
    /// returns a [`JoinError`] for which [`is_cancelled`](JoinError::is_cancelled) is true. A task that has ended, or
    /// that ends with its current poll, is not affected.
    ///
    /// A closure of `spawn_blocking` can't be interrupted. One that has not begun is cancelled when a
    /// thread takes it, so if [`max_blocking`](crate::Builder::max_blocking) closures are stuck, its
    /// handle waits until one of them ends.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(std::future::pending::<()>());
    /// task.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort(&self) {
        self.task.abort();
    }

    /// Returns true if the task has ended: returned, panicked or been cancelled.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(std::future::pending::<()>());
    /// assert!(!task.is_finished());
    /// # });
    /// ```
    pub fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Returns a handle that can abort the task, but does not own its output.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(std::future::pending::<()>());
    /// let abort = task.abort_handle();
    /// abort.abort();
    /// assert!(task.await.unwrap_err().is_cancelled());
    /// # });
    /// ```
    pub fn abort_handle(&self) -> AbortHandle {
        AbortHandle::clone(&self.task)
    }

    /// Returns the task's id.
    ///
    /// # Examples
    ///
    /// ```
    /// # windlass::block_on(async {
    /// let task = windlass::spawn(async { windlass::task::id() });
    /// let id = task.id();
    /// assert_eq!(task.await.unwrap(), id);
    /// # });
    /// ```
    pub fn id(&self) -> Id {
        self.task.id()
    }

    /// Registers the waker, unless the task is complete.
    pub(super) fn register(&self, waker: &Waker) -> JoinStep {
        let header = self.task.header();
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

    /// Notes that the task that this thread polls waits for the end of this one.
    pub(super) fn note_wait(&self) {
        let blocks = self.task.header().notes.is_blocking();
        let id = half(self.id());
        waker::note_wait(if blocks { Waits::JoinBlocking(id) } else { Waits::Join(id) });
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        std::task::ready!(coop::poll_proceed(cx));
        if self.register(cx.waker()) == JoinStep::Done {
            self.note_wait();
            return Poll::Pending;
        }
        coop::spend();
        let mut output: Option<Output<T>> = None;
        // SAFETY: COMPLETE was seen with our interest standing, so the output is ours, and it has
        // the type of `output`.
        unsafe {
            (self.task.header().vtable.take_output)(self.task.header, (&raw mut output).cast())
        };
        Poll::Ready(output.expect("a JoinHandle was polled after it had returned its output"))
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let header = self.task.header();
        if header.state.detach() {
            return;
        }
        let unused = match header.state.drop_join_interest() {
            // SAFETY: JOIN_WAKER is clear and the task will not set it: the place is ours.
            JoinStep::Done => header.join_waker.with_mut(|place| unsafe { (*place).take() }),
            JoinStep::Complete => {
                // SAFETY: COMPLETE was seen with our interest standing: the output is ours.
                unsafe { (header.vtable.drop_output)(self.task.header) };
                None
            }
        };
        drop_quietly(unused);
        // SAFETY: it is not used again.
        unsafe { ManuallyDrop::drop(&mut self.task) }
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
