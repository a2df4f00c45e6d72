//! The allocation of a task: header, scheduler, and the future or its output.

use std::alloc::Layout;
use std::future::Future;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use super::account::Metered;
use super::error::JoinError;
use super::header::{Header, Marks, Vtable};
use super::id::Id;
use super::notes::Notes;
use super::state::{Complete, EndPoll, Listing, Start, State};
use super::waker::{Lending, WakerRef};
use super::{End, Runnable, Schedule, drop_quietly, quietly};
use crate::events;
use crate::primitives::UnsafeCell;
// loom's allocator finds tasks that are leaked or freed twice.
#[cfg(loom)]
use crate::primitives::loom::alloc;
#[cfg(not(loom))]
use std::alloc;

/// The result that a joiner receives.
pub(crate) type Output<T> = Result<T, JoinError>;

/// The future, then its output, then nothing.
enum Stage<F: Future> {
    Future(F),
    Output(Output<F::Output>),
    Empty,
}

/// One task. `repr(C)` puts the header first: a pointer to it is a pointer to the cell.
///
/// | field | who may touch it |
/// |---|---|
/// | `scheduler` | the holder of the `Runnable`, and the runner |
/// | `marks` | the name: anyone with a reference, read only; what was inherited: the holder of the `Runnable`, and the runner up to COMPLETE |
/// | `stage` | the runner from `start` on; after COMPLETE the `JoinHandle` if it still had interest, else the runner; the last reference |
#[repr(C)]
pub(crate) struct Cell<F: Future, S, M> {
    header: Header,
    scheduler: S,
    marks: M,
    stage: UnsafeCell<Stage<F>>,
}

impl<F, S, M> Cell<F, S, M>
where
    F: Future,
    S: Schedule,
    M: Marks,
{
    const VTABLE: Vtable = Vtable {
        run: Self::run,
        schedule: Self::schedule,
        take_output: Self::take_output,
        drop_output: Self::drop_output,
        list: Self::list,
        name: Self::name,
        free: Self::free,
    };

    /// Allocates a task with one reference for its owner and one for its `JoinHandle`. The caller owns its `Runnable`.
    ///
    /// The future is built in place: `spawn` of a large future moves it once, into the heap.
    pub(crate) fn allocate(
        future: F,
        scheduler: S,
        marks: M,
        id: Id,
        notes: Notes,
        listing: Listing,
    ) -> NonNull<Header> {
        let layout = Layout::new::<Self>();
        // SAFETY: the layout is not zero-sized, because the header is not.
        let memory = unsafe { alloc::alloc(layout) };
        let Some(cell) = NonNull::new(memory.cast::<Self>()) else {
            std::alloc::handle_alloc_error(layout)
        };
        // SAFETY: freshly allocated with the layout of `Self`, so valid for one write.
        unsafe {
            cell.write(Self {
                header: Header::new(&Self::VTABLE, id, notes, listing),
                scheduler,
                marks,
                stage: UnsafeCell::new(Stage::Future(future)),
            });
        }
        cell.cast()
    }

    /// # Safety
    ///
    /// `header` was made by `Self::allocate` and the task is alive throughout `'a`.
    unsafe fn of<'a>(header: NonNull<Header>) -> &'a Self {
        // SAFETY: `repr(C)` with the header first; alive, says the caller.
        unsafe { header.cast::<Self>().as_ref() }
    }

    /// [`Vtable::run`]: consumes the `Runnable`.
    ///
    /// # Safety
    ///
    /// The caller owns the task's `Runnable` and gives it up.
    unsafe fn run(header: NonNull<Header>) {
        // SAFETY: the `Runnable` keeps the task alive until `end_poll` or `complete`.
        let cell = unsafe { Self::of(header) };
        let start = cell.header.state.start();
        let lending = Lending::begin(header);
        let polled = match start {
            Start::Cancel => None,
            // SAFETY: we run the task.
            Start::Poll | Start::PollUnlisted => Some(unsafe { cell.poll(&header) }),
        };
        if cell.header.notes.is_timed() {
            cell.scheduler.timed(&cell.header);
        }
        let result = match polled {
            Some(Poll::Ready(result)) => result,
            Some(Poll::Pending) if start == Start::Poll => {
                // SAFETY: we run the task, which was bound before.
                return unsafe { Self::pause(header, State::end_poll, lending) };
            }
            Some(Poll::Pending) if cell.scheduler.bind(header) => {
                // SAFETY: we run the task, which is bound now.
                return unsafe { Self::pause(header, State::end_poll_listed, lending) };
            }
            // Cancelled, or pending in a runtime that refuses further tasks.
            // SAFETY: we run the task.
            _ => unsafe { cell.drop_future() }
                .and_then(|()| Err(JoinError::cancelled(cell.header.id))),
        };
        // SAFETY: we run the task, and the future is gone.
        unsafe { Self::complete(header, result, lending.end()) }
    }

    /// [`Vtable::list`]: binds the task to its owner's list. Returns false if that is closed.
    ///
    /// # Safety
    ///
    /// The caller owns the task's `Runnable`, and the task is not bound.
    unsafe fn list(header: NonNull<Header>) -> bool {
        // SAFETY: the `Runnable` keeps the task alive.
        let cell = unsafe { Self::of(header) };
        let bound = cell.scheduler.list(header);
        if bound {
            cell.header.state.listed();
        }
        bound
    }

    /// Ends a poll that returned `Pending`.
    ///
    /// # Safety
    ///
    /// The caller runs the task, which is bound, and stops running it.
    unsafe fn pause(
        header: NonNull<Header>,
        end_poll: fn(&State, usize) -> EndPoll,
        lending: Lending,
    ) {
        // SAFETY: running it keeps the task alive until `end_poll`.
        let cell = unsafe { Self::of(header) };
        let scheduler = cell.scheduler;
        match end_poll(&cell.header.state, lending.end()) {
            EndPoll::Idle => {}
            EndPoll::Requeue => {
                // SAFETY: `Requeue` gives us the `Runnable` back.
                unsafe { cell.marks.woken() };
                // SAFETY: as above.
                scheduler.reschedule(unsafe { Runnable::new(header) });
            }
        }
    }

    /// Polls the future; on `Ready` and on a panic it is dropped before the result is returned.
    ///
    /// # Safety
    ///
    /// The caller runs the task.
    unsafe fn poll(&self, header: &NonNull<Header>) -> Poll<Output<F::Output>> {
        let waker = WakerRef::new(header);
        let mut context = Context::from_waker(&waker);
        let polled = panic::catch_unwind(AssertUnwindSafe(|| {
            self.stage.with_mut(|stage| {
                // SAFETY: running the task gives exclusive access to the stage.
                let Stage::Future(future) = (unsafe { &mut *stage }) else {
                    unreachable!("a running task holds its future")
                };
                // SAFETY: the cell never moves, and the future is dropped in place.
                let future = unsafe { Pin::new_unchecked(future) };
                // SAFETY: the caller runs the task.
                unsafe { self.marks.surround(Metered::Poll, || future.poll(&mut context)) }
            })
        }));
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => {
                // SAFETY: the caller runs the task.
                Poll::Ready(match unsafe { self.drop_future() } {
                    Ok(()) => Ok(output),
                    Err(error) => {
                        drop_quietly(output);
                        Err(error)
                    }
                })
            }
            Err(payload) => {
                // SAFETY: the caller runs the task.
                if let Err(second) = unsafe { self.drop_future() } {
                    drop_quietly(second);
                }
                let location = self.header.location();
                // This calls user code, which may panic in turn.
                quietly(|| events::task_panicked(self.header.id, location, &*payload));
                let payload = self.scheduler.explain(payload);
                Poll::Ready(Err(JoinError::panic(self.header.id, payload)))
            }
        }
    }

    /// Drops the future in place. A panic in its drop becomes the error.
    ///
    /// # Safety
    ///
    /// The caller runs the task.
    unsafe fn drop_future(&self) -> Output<()> {
        self.stage
            .with_mut(|stage| {
                panic::catch_unwind(AssertUnwindSafe(|| {
                    // SAFETY: running the task gives exclusive access. If the drop panics, the assignment has
                    // still written `Empty`, so nothing is dropped twice.
                    let drop_future = || unsafe { *stage = Stage::Empty };
                    // SAFETY: the caller runs the task.
                    unsafe { self.marks.surround(Metered::Closure, drop_future) };
                }))
            })
            .map_err(|payload| JoinError::panic(self.header.id, payload))
    }

    /// Stores the result, wakes the joiner and leaves the owner's list. `left` of the lendable references remain.
    ///
    /// # Safety
    ///
    /// The caller runs the task, and the future is gone.
    unsafe fn complete(header: NonNull<Header>, result: Output<F::Output>, left: usize) {
        // SAFETY: the owner's reference is given up only at the end.
        let cell = unsafe { Self::of(header) };
        // Before COMPLETE: once the task is joined, its values are gone.
        // SAFETY: we run the task, and the future is gone.
        unsafe { cell.marks.disinherit() };
        let panicked = matches!(&result, Err(error) if error.is_panic());
        let state = cell.header.state.load();
        let end = End { listed: !state.is_unlisted(), panicked };
        if !state.has_join_interest() {
            drop_quietly(result);
            cell.scheduler.release(header, end);
            if cell.header.state.complete_and_release(left) {
                // SAFETY: that was the last reference.
                unsafe { Self::free(header) }
            }
            return;
        }
        // SAFETY: running the task gives exclusive access; what is overwritten is `Empty`.
        cell.stage.with_mut(|stage| unsafe { *stage = Stage::Output(result) });
        match cell.header.state.complete() {
            // SAFETY: with no join interest left, the output stays ours after COMPLETE.
            Complete::DropOutput => unsafe { Self::drop_output(header) },
            Complete::WakeJoiner => {
                // SAFETY: JOIN_WAKER at COMPLETE gives us the waker's place.
                let waker = cell.header.join_waker.with_mut(|place| unsafe { (*place).take() });
                if let Some(waker) = waker {
                    quietly(|| waker.wake());
                }
            }
            Complete::Nothing => {}
        }
        cell.scheduler.release(header, end);
        if cell.header.state.release(left) {
            // SAFETY: that was the last reference.
            unsafe { Self::free(header) }
        }
    }

    /// [`Vtable::schedule`].
    ///
    /// # Safety
    ///
    /// The caller owns the task's `Runnable` and gives it up.
    unsafe fn schedule(header: NonNull<Header>) {
        // Copied out first: once the `Runnable` is in a queue, the task may be run and freed.
        // SAFETY: the `Runnable` keeps the task alive.
        let cell = unsafe { Self::of(header) };
        // SAFETY: the `Runnable` is the caller's.
        unsafe { cell.marks.woken() };
        let scheduler = cell.scheduler;
        // SAFETY: as above.
        scheduler.schedule(unsafe { Runnable::new(header) });
    }

    /// [`Vtable::take_output`].
    ///
    /// # Safety
    ///
    /// The caller is the `JoinHandle` and has seen COMPLETE; `place` points to an
    /// `Option<Output<F::Output>>`.
    unsafe fn take_output(header: NonNull<Header>, place: *mut ()) {
        // SAFETY: the handle's reference keeps the task alive.
        let cell = unsafe { Self::of(header) };
        // SAFETY: after COMPLETE the stage is the handle's.
        let stage = cell.stage.with_mut(|stage| unsafe { mem::replace(&mut *stage, Stage::Empty) });
        if let Stage::Output(output) = stage {
            // SAFETY: of that type, says the caller.
            unsafe { *place.cast::<Option<Output<F::Output>>>() = Some(output) };
        }
    }

    /// [`Vtable::drop_output`]. A panic of the output's drop is swallowed.
    ///
    /// # Safety
    ///
    /// COMPLETE is set and the output is the caller's.
    unsafe fn drop_output(header: NonNull<Header>) {
        // SAFETY: the caller has a reference.
        let cell = unsafe { Self::of(header) };
        cell.stage.with_mut(|stage| {
            // SAFETY: the stage is the caller's. The assignment writes `Empty` even on a panic.
            quietly(|| unsafe { *stage = Stage::Empty });
        });
    }

    /// [`Vtable::name`].
    ///
    /// # Safety
    ///
    /// The task is alive.
    unsafe fn name(header: NonNull<Header>) -> Option<NonNull<str>> {
        // SAFETY: alive, says the caller.
        unsafe { Self::of(header) }.marks.name().map(NonNull::from)
    }

    /// [`Vtable::free`].
    ///
    /// # Safety
    ///
    /// The caller gave up the last reference.
    unsafe fn free(header: NonNull<Header>) {
        let cell = header.cast::<Self>();
        // Lets a model see that every access comes before the free.
        #[cfg(loom)]
        // SAFETY: alive until it is dropped below.
        unsafe { cell.as_ref() }.stage.with_mut(|_| ());
        #[cfg(loom)]
        // SAFETY: as above.
        unsafe { header.as_ref() }.join_waker.with_mut(|_| ());
        // A waker left in its place may run user code when dropped.
        // SAFETY: nobody else has a reference, and the cell is not used again.
        quietly(|| unsafe { cell.drop_in_place() });
        // SAFETY: allocated in `allocate` with this layout.
        unsafe { alloc::dealloc(cell.as_ptr().cast(), Layout::new::<Self>()) }
    }
}
