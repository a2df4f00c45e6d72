//! The part of a task that does not depend on its future: what wakers, queues and lists see.

use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

use super::account::Metered;
use super::drop_quietly;
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
///
/// Anyone with a reference to the task may read the name. What was inherited belongs to the holder of the `Runnable`:
/// handles and wakers may keep the allocation for long after the task's end.
pub(crate) trait Marks: Send + 'static {
    /// Returns the name.
    fn name(&self) -> Option<&str>;

    /// Runs a poll of the future, or its drop, with what the task has inherited.
    ///
    /// # Safety
    ///
    /// The caller runs the task.
    unsafe fn surround<R>(&self, as_what: Metered, f: impl FnOnce() -> R) -> R;

    /// Notes that the task was woken.
    ///
    /// # Safety
    ///
    /// The caller owns the task's `Runnable`.
    unsafe fn woken(&self);

    /// Drops what the task has inherited. A panic of that is swallowed.
    ///
    /// # Safety
    ///
    /// The caller runs the task.
    unsafe fn disinherit(&self);
}

/// Nothing.
pub(crate) struct Plain;

impl Marks for Plain {
    fn name(&self) -> Option<&str> {
        None
    }

    #[inline(always)]
    unsafe fn surround<R>(&self, _as_what: Metered, f: impl FnOnce() -> R) -> R {
        f()
    }

    #[inline(always)]
    unsafe fn woken(&self) {}

    #[inline(always)]
    unsafe fn disinherit(&self) {}
}

/// A name, or something inherited, or both.
pub(crate) struct Marked {
    name: Option<String>,
    inherited: UnsafeCell<Option<Inherited>>,
}

impl Marked {
    pub(super) fn new(name: Option<String>, inherited: Option<Inherited>) -> Self {
        if let Some(account) = inherited.as_ref().and_then(Inherited::account) {
            account.spawned();
        }
        Self { name, inherited: UnsafeCell::new(inherited) }
    }
}

impl Marks for Marked {
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    unsafe fn surround<R>(&self, as_what: Metered, f: impl FnOnce() -> R) -> R {
        // SAFETY: running the task gives access, and what `f` does with it is to read.
        self.inherited.with(|inherited| match unsafe { &*inherited } {
            Some(inherited) => inherited.enter(as_what, f),
            None => f(),
        })
    }

    unsafe fn woken(&self) {
        self.inherited.with(|inherited| {
            // SAFETY: so does owning the `Runnable`.
            let inherited = unsafe { &*inherited };
            if let Some(account) = inherited.as_ref().and_then(Inherited::account) {
                account.woken();
            }
        });
    }

    unsafe fn disinherit(&self) {
        // SAFETY: running the task gives exclusive access: it is not being polled, nor is the future being dropped.
        drop_quietly(self.inherited.with_mut(|inherited| unsafe { (*inherited).take() }));
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
