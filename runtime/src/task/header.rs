//! The part of a task that does not depend on its future: what wakers, queues and lists see.

use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

use super::id::Id;
use super::state::{Listing, State};
use crate::primitives::UnsafeCell;

/// The operations on a task whose future's type is erased.
pub(crate) struct Vtable {
    /// Polls or cancels; consumes the `Runnable`.
    pub(crate) run: unsafe fn(NonNull<Header>),
    /// Queues the `Runnable`, which the caller owns.
    pub(crate) schedule: unsafe fn(NonNull<Header>),
    /// Moves the output to the place behind the pointer, which must be an `Option<Result<T, JoinError>>`.
    pub(crate) take_output: unsafe fn(NonNull<Header>, *mut ()),
    /// Drops the output in place.
    pub(crate) drop_output: unsafe fn(NonNull<Header>),
    /// Returns a copy of the task's name.
    pub(crate) name: unsafe fn(NonNull<Header>) -> Option<String>,
    /// Frees the task.
    pub(crate) free: unsafe fn(NonNull<Header>),
}

/// Neighbours in the owner's list.
#[derive(Default)]
pub(crate) struct Links {
    pub(crate) next: Option<NonNull<Header>>,
    pub(crate) prev: Option<NonNull<Header>>,
}

/// Where a task comes from: its spawn site and its name, if it was given one.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) location: &'static Location<'static>,
    pub(crate) name: Option<String>,
}

impl Origin {
    pub(crate) fn new(location: &'static Location<'static>, name: Option<String>) -> Self {
        Self { location, name }
    }
}

/// A task's name in its allocation. It takes no space in tasks without a name.
pub(crate) trait Name: Send + Sync + 'static {
    fn get(&self) -> Option<&str>;
}

/// No name.
pub(crate) struct Unnamed;

impl Name for Unnamed {
    fn get(&self) -> Option<&str> {
        None
    }
}

impl Name for String {
    fn get(&self) -> Option<&str> {
        Some(self)
    }
}

/// The head of every task's allocation.
///
/// | field | who may touch it |
/// |---|---|
/// | `state` | anyone with a reference |
/// | `vtable`, `id`, `location` | anyone with a reference, read only |
/// | `links` | the holder of the owner's lock |
/// | `join_waker` | as JOIN_WAKER says: the `JoinHandle` while clear, the completing runner when set |
pub(crate) struct Header {
    pub(crate) state: State,
    pub(crate) vtable: &'static Vtable,
    pub(crate) links: UnsafeCell<Links>,
    pub(crate) join_waker: UnsafeCell<Option<Waker>>,
    pub(crate) id: Id,
    pub(crate) location: &'static Location<'static>,
}

impl Header {
    pub(crate) fn new(
        vtable: &'static Vtable,
        id: Id,
        location: &'static Location<'static>,
        listing: Listing,
    ) -> Self {
        Self {
            state: State::new(listing),
            vtable,
            links: UnsafeCell::new(Links::default()),
            join_waker: UnsafeCell::new(None),
            id,
            location,
        }
    }

    /// Returns the task's name and spawn site. Takes a pointer, because the name is behind the header, where a reference
    /// to the header does not reach.
    ///
    /// # Safety
    ///
    /// The task is alive, and the pointer is to the whole of it.
    pub(crate) unsafe fn origin(header: NonNull<Self>) -> Origin {
        // SAFETY: alive, says the caller.
        let Self { vtable, location, .. } = unsafe { header.as_ref() };
        // SAFETY: as above, and the vtable is that of this very task.
        let name = unsafe { (vtable.name)(header) };
        Origin::new(location, name)
    }
}
