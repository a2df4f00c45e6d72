//! The part of a task that does not depend on its future: what wakers, queues and lists see.

use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

use super::account::Metered;
use super::frames::Inherited;
use super::id::Id;
use super::notes::Notes;
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
    /// Binds a task that is not bound yet to its owner's list. The caller owns its `Runnable`.
    pub(crate) list: unsafe fn(NonNull<Header>) -> bool,
    /// Returns the task's name, which lives as long as the task.
    pub(crate) name: unsafe fn(NonNull<Header>) -> Option<NonNull<str>>,
    /// Frees the task.
    pub(crate) free: unsafe fn(NonNull<Header>),
}

/// Neighbours in the owner's list.
#[derive(Default)]
pub(crate) struct Links {
    pub(crate) next: Option<NonNull<Header>>,
    pub(crate) prev: Option<NonNull<Header>>,
}

/// The origin of a task: its spawn site and its name, if it was given one.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) location: &'static Location<'static>,
    pub(crate) name: Option<String>,
}

impl Origin {
    /// An empty name counts as none.
    pub(crate) fn new(location: &'static Location<'static>, name: Option<String>) -> Self {
        Self { location, name: name.filter(|name| !name.is_empty()) }
    }

    /// Returns the origin of a task without a name that the caller spawns.
    #[track_caller]
    pub(crate) fn caller() -> Self {
        Self::new(Location::caller(), None)
    }
}

/// The marks of a task, in its allocation: its name, and what it has inherited. It takes no space, and no time, in
/// tasks that have neither.
pub(crate) trait Marks: Send + Sync + 'static {
    /// Returns the name.
    fn name(&self) -> Option<&str>;

    /// Runs a poll of the future, or its drop, with what the task has inherited.
    fn surround<R>(&self, as_what: Metered, f: impl FnOnce() -> R) -> R;

    /// Notes that the task was woken.
    fn woken(&self);
}

/// Nothing.
pub(crate) struct Plain;

impl Marks for Plain {
    fn name(&self) -> Option<&str> {
        None
    }

    #[inline(always)]
    fn surround<R>(&self, _as_what: Metered, f: impl FnOnce() -> R) -> R {
        f()
    }

    #[inline(always)]
    fn woken(&self) {}
}

/// A name, or something inherited, or both.
pub(crate) struct Marked {
    name: Option<String>,
    inherited: Option<Inherited>,
}

impl Marked {
    pub(super) fn new(name: Option<String>, inherited: Option<Inherited>) -> Self {
        if let Some(account) = inherited.as_ref().and_then(Inherited::account) {
            account.spawned();
        }
        Self { name, inherited }
    }
}

impl Marks for Marked {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn surround<R>(&self, as_what: Metered, f: impl FnOnce() -> R) -> R {
        match &self.inherited {
            Some(inherited) => inherited.enter(as_what, f),
            None => f(),
        }
    }

    fn woken(&self) {
        if let Some(account) = self.inherited.as_ref().and_then(Inherited::account) {
            account.woken();
        }
    }
}

/// The head of every task's allocation.
///
/// | field | who may touch it |
/// |---|---|
/// | `state` | anyone with a reference |
/// | `vtable`, `id` | anyone with a reference, read only |
/// | `notes` | anyone with a reference may read; see there |
/// | `links` | the holder of the owner's lock |
/// | `join_waker` | as JOIN_WAKER says: the `JoinHandle` while clear, the completing runner when set |
///
/// `repr(C)` keeps the links, which most tasks never use, behind the fields that all tasks use.
#[repr(C)]
pub(crate) struct Header {
    pub(crate) state: State,
    pub(crate) vtable: &'static Vtable,
    pub(crate) id: Id,
    pub(crate) notes: Notes,
    pub(crate) join_waker: UnsafeCell<Option<Waker>>,
    pub(crate) links: UnsafeCell<Links>,
}

impl Header {
    pub(crate) fn new(vtable: &'static Vtable, id: Id, notes: Notes, listing: Listing) -> Self {
        Self {
            state: State::new(listing),
            vtable,
            id,
            notes,
            join_waker: UnsafeCell::new(None),
            links: UnsafeCell::new(Links::default()),
        }
    }

    /// Returns the task's name. Takes a pointer, because the name is behind the header, where a reference to the header
    /// does not reach.
    ///
    /// # Safety
    ///
    /// The task is alive throughout `'a`, and the pointer is to the whole of it.
    pub(super) unsafe fn name<'a>(header: NonNull<Self>) -> Option<&'a str> {
        // SAFETY: alive, says the caller, and the vtable is that of this very task.
        let name = unsafe { (header.as_ref().vtable.name)(header) }?;
        // SAFETY: it is never written again, and lives as long as the task.
        Some(unsafe { name.as_ref() })
    }

    /// Returns a copy of the task's name, and its spawn site.
    ///
    /// # Safety
    ///
    /// The task is alive, and the pointer is to the whole of it.
    pub(crate) unsafe fn origin(header: NonNull<Self>) -> Origin {
        // SAFETY: the caller says so.
        let (header, name) = unsafe { (header.as_ref(), Self::name(header)) };
        Origin::new(header.location(), name.map(str::to_owned))
    }

    /// Returns where the task was spawned.
    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.notes.site().get().location
    }
}
