//! Which runtimes the current thread has entered: a stack, of which the topmost counts.
//!
//! There are three kinds of entries. A *guard* is in the hands of the program, which may drop it too early, too
//! late or never: it takes its own entry out, wherever that is, so what counts is always the guard made last of
//! those there are. A *scope* is the runtime's own, for the time of a `block_on` or of a closure of the blocking
//! pool: it leaves with it what was entered within and forgotten. A *worker* is the scope of a thread that works for a
//! pool: as long as it is the topmost, nothing counts as entered.
//!
//! Nothing here runs foreign code while the stack is borrowed: handles are dropped after that.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use windlass_sync::thread_cell;

use crate::handle::Handle;

struct Entry {
    /// Not given twice on a thread, so that an entry that is gone is not mistaken for another.
    number: u64,
    /// `None` for a worker.
    handle: Option<Handle>,
}

// True while the topmost entry has a handle; spares workers the look.
thread_cell!(static HAS_ENTERED: bool = false);
thread_cell!(static NUMBER: u64 = 0);

thread_local! {
    static STACK: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// What became of a guard's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It was the topmost.
    InOrder,
    /// Others are still there that came later.
    OutOfOrder,
    /// It had been left before, with the scope that it was made in.
    Before,
}

/// True if the current thread has entered a runtime that it has not left.
#[inline]
pub(crate) fn has_entered() -> bool {
    HAS_ENTERED.with(Cell::get)
}

/// The runtime that the current thread has entered last.
pub(crate) fn last() -> Option<Handle> {
    // After the thread-local's destruction nothing is entered.
    STACK.try_with(|stack| stack.borrow().last().and_then(|entry| entry.handle.clone())).ok()?
}

/// Enters a runtime; gives the number of the entry, for [`leave`].
pub(crate) fn enter(handle: Handle) -> u64 {
    push(Some(handle))
}

/// Takes out the entry of a guard.
pub(crate) fn leave(number: u64) -> Left {
    let (left, _entry) = change(|stack| match stack.iter().rposition(|it| it.number == number) {
        Some(place) if place + 1 == stack.len() => (Left::InOrder, stack.pop()),
        Some(place) => (Left::OutOfOrder, Some(stack.remove(place))),
        None => (Left::Before, None),
    })
    .unwrap_or((Left::Before, None));
    left
}

/// Leaves what was entered since the thread began to work for its pool.
pub(crate) fn leave_all() {
    let _entries = change(|stack| {
        let workers = stack.iter().rposition(|entry| entry.handle.is_none());
        stack.split_off(workers.map_or(0, |place| place + 1))
    });
}

fn push(handle: Option<Handle>) -> u64 {
    let number = NUMBER.with(|cell| cell.replace(cell.get() + 1));
    change(|stack| stack.push(Entry { number, handle }));
    number
}

fn change<R>(f: impl FnOnce(&mut Vec<Entry>) -> R) -> Option<R> {
    let changed = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        let result = f(&mut stack);
        (result, stack.last().is_some_and(|entry| entry.handle.is_some()))
    });
    let (result, has_entered) = changed.ok().map_or((None, false), |(it, has)| (Some(it), has));
    HAS_ENTERED.with(|cell| cell.set(has_entered));
    result
}

/// An entry of the runtime's own. Dropping it leaves all that was entered later.
#[must_use = "it is left at once"]
pub(crate) struct Scope {
    number: u64,
    // Bound to the thread.
    not_send: PhantomData<*const ()>,
}

impl Scope {
    /// The runtime is the current one.
    pub(crate) fn enter(handle: Handle) -> Self {
        Self { number: enter(handle), not_send: PhantomData }
    }

    /// The thread works for a pool, whatever it has entered before.
    pub(crate) fn work() -> Self {
        Self { number: push(None), not_send: PhantomData }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let _entries = change(|stack| {
            let place = stack.iter().rposition(|entry| entry.number == self.number);
            place.map(|place| stack.split_off(place))
        });
    }
}
