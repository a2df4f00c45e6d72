//! The runtimes that the current thread has entered: a stack, whose topmost entry is the current runtime.
//!
//! There are three kinds of entries:
//!
//! - A *guard* belongs to the program, which may drop it too early, too late or never. It removes its own entry,
//!   wherever that is, so the current runtime is always that of the most recent guard still alive.
//! - A *scope* belongs to a `block_on` or a blocking closure. Its end also removes all entries above it, whose guards
//!   were forgotten.
//! - A *worker* is the scope of a thread that works for a pool. While it is the topmost, no runtime counts as entered.
//!
//! No foreign code runs while the stack is borrowed: handles are dropped after that.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

use windlass_sync::thread_cell;

use crate::handle::Handle;

struct Entry {
    /// Unique on the thread, so that an entry that is gone is not mistaken for another.
    number: u64,
    /// `None` for a worker.
    handle: Option<Handle>,
}

// True while the topmost entry has a handle. Saves workers the look at the stack.
thread_cell!(static HAS_ENTERED: bool = false);
thread_cell!(static NUMBER: u64 = 0);

thread_local! {
    static STACK: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// The place where a guard's entry was found when it was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaveOrder {
    /// It was the topmost.
    InOrder,
    /// There are later entries above it.
    OutOfOrder,
    /// It had been removed before, with the scope that it was created in.
    Before,
}

/// Returns true if the current thread has entered a runtime and not left it.
#[inline]
pub(crate) fn has_entered() -> bool {
    HAS_ENTERED.with(Cell::get)
}

/// Returns the runtime that the current thread has entered last.
pub(crate) fn last() -> Option<Handle> {
    // After the thread-local's destruction nothing is entered.
    STACK.try_with(|stack| stack.borrow().last().and_then(|entry| entry.handle.clone())).ok()?
}

/// Enters a runtime, and returns the number of the entry for [`leave`].
pub(crate) fn enter(handle: Handle) -> u64 {
    push(Some(handle))
}

/// Removes the entry of a guard.
pub(crate) fn leave(number: u64) -> LeaveOrder {
    let (left, _entry) = change(|stack| match stack.iter().rposition(|it| it.number == number) {
        Some(place) if place + 1 == stack.len() => (LeaveOrder::InOrder, stack.pop()),
        Some(place) => (LeaveOrder::OutOfOrder, Some(stack.remove(place))),
        None => (LeaveOrder::Before, None),
    })
    .unwrap_or((LeaveOrder::Before, None));
    left
}

/// Leaves all runtimes entered since the thread began to work for its pool.
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

/// An entry that belongs to the runtime. Dropping it also removes all later ones.
#[must_use = "it is left at once"]
pub(crate) struct EnteredScope {
    number: u64,
    // Bound to the thread.
    not_send: PhantomData<*const ()>,
}

impl EnteredScope {
    /// Makes a runtime the current one.
    pub(crate) fn enter(handle: Handle) -> Self {
        Self { number: enter(handle), not_send: PhantomData }
    }

    /// Marks that the thread works for a pool, whatever it has entered before.
    pub(crate) fn work() -> Self {
        Self { number: push(None), not_send: PhantomData }
    }
}

impl Drop for EnteredScope {
    fn drop(&mut self) {
        let _entries = change(|stack| {
            let place = stack.iter().rposition(|entry| entry.number == self.number);
            place.map(|place| stack.split_off(place))
        });
    }
}
