//! The values that belong to the code that this thread runs: a list of frames on its stack.
//!
//! Each poll of a scope pushes a *frame* onto the list: a key, and a reference to the value, which stays in the scope's
//! future. The end of the poll pops it. A look-up walks the list to the first frame with its key, so inner scopes
//! shadow outer ones, and a scope that is not being polled is not found.
//!
//! A worker may run other code on top of a poll: a task that it polls at a split point, or the job of another
//! computation while it waits in a join. Meanwhile [`set_aside`] starts an empty list, so that neither sees the other's
//! values. With a list of frames that is one store; with a thread-local per key, every key would have to be swapped.
//!
//! # What is passed on
//!
//! Values of [inherited keys](super::InheritedKey) and [accounts](super::Account) are shared, and are passed on:
//!
//! - to work that may outlive the frames (a task, a job of a scope), as [`Inherited`]: counted references to them all;
//! - to the second closure of a `join` that a thief runs, as [`Joiner`]: a pointer to the joiner's list. The joiner
//!   waits in its frame, so everything below it on its stack stays there. The thief looks only at the shared values,
//!   because the others need not be `Sync`. A `join` that nobody steals pays for a load and a store.
//!
//! A thread without values pays for one load where it spawns.

use std::any::Any;
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;

use windlass_sync::thread_cell;

use super::account::{self, Account, Metered};

/// A value that other threads may read.
pub(super) type Shared = Arc<dyn Any + Send + Sync>;

/// A value or account in force, and the frame below it.
struct Frame<'a> {
    value: FrameValue<'a>,
    below: *const Frame<'a>,
}

/// The content of a frame. Keys are addresses: compared, never dereferenced.
#[derive(Clone, Copy)]
enum FrameValue<'a> {
    /// A value for this task alone.
    Own(usize, &'a dyn Any),
    /// A value that is inherited.
    Shared(usize, &'a Shared),
    Account(&'a Account),
    /// What a task or job has inherited.
    Inherited(&'a Inherited),
    /// What a joiner has in force, on another thread.
    Joiner(*const Frame<'a>),
}

// The innermost frame of this thread; null for none.
thread_cell!(static TOP: *const Frame<'static> = ptr::null());

/// Restores the list when it is dropped, also after a panic.
pub(crate) struct Restore(*const Frame<'static>);

impl Drop for Restore {
    #[inline]
    fn drop(&mut self) {
        TOP.with(|top| top.set(self.0));
    }
}

/// Hides all values on this thread until the result is dropped.
#[inline]
pub(super) fn set_aside() -> Restore {
    Restore(TOP.with(|top| top.replace(ptr::null())))
}

/// Runs `f` with one more frame.
fn with_frame<R>(value: FrameValue<'_>, f: impl FnOnce() -> R) -> R {
    let below = TOP.with(Cell::get);
    let frame = Frame { value, below };
    TOP.with(|top| top.set((&raw const frame).cast()));
    let _restore = Restore(below);
    f()
}

/// Runs `f` with one more value, which nobody inherits.
pub(super) fn with_own<R>(key: usize, value: &dyn Any, f: impl FnOnce() -> R) -> R {
    with_frame(FrameValue::Own(key, value), f)
}

/// Runs `f` with one more value, which is inherited.
pub(super) fn with_shared<R>(key: usize, value: &Shared, f: impl FnOnce() -> R) -> R {
    with_frame(FrameValue::Shared(key, value), f)
}

/// Runs `f` on an account, which is inherited.
pub(super) fn with_account<R>(account: &Account, f: impl FnOnce() -> R) -> R {
    with_frame(FrameValue::Account(account), f)
}

/// Calls `f` with the innermost value of a key.
pub(super) fn with_found<R>(key: usize, f: impl FnOnce(Option<&dyn Any>) -> R) -> R {
    let mut found = None;
    let top = TOP.with(Cell::get);
    // SAFETY: each frame in the list belongs to a `with_frame` that has not returned. Before it returns, it removes its
    // own frame and all above it. `f` is called from within, so the borrow ends before that.
    unsafe {
        each(top, true, &mut |value| {
            found = match value {
                FrameValue::Own(own, value) if own == key => Some(value),
                FrameValue::Shared(shared, value) if shared == key => Some(&**value as &dyn Any),
                FrameValue::Inherited(inherited) => inherited.value(key),
                _ => None,
            };
            found.is_some()
        });
    }
    f(found)
}

/// Calls `f` with the account that is in force.
pub(super) fn with_current_account<R>(f: impl FnOnce(Option<&Account>) -> R) -> R {
    // SAFETY: as in `with_found`.
    f(unsafe { account_in(TOP.with(Cell::get)) })
}

/// # Safety
///
/// As for [`each`].
unsafe fn account_in<'a>(list: *const Frame<'a>) -> Option<&'a Account> {
    let mut found = None;
    // SAFETY: the caller says so.
    unsafe {
        each(list, true, &mut |value| {
            found = match value {
                FrameValue::Account(account) => Some(account),
                FrameValue::Inherited(inherited) => inherited.0.account.as_ref(),
                _ => None,
            };
            found.is_some()
        });
    }
    found
}

/// Calls `f` with each frame of a list, innermost first, until it returns true. In place of a `Joiner`, it visits the
/// joiner's frames. Values that are not shared are left out there, and if the list is not this thread's own. Returns
/// true if `f` did.
///
/// # Safety
///
/// The frames of the list stay where they are throughout `'a`.
unsafe fn each<'a>(
    mut list: *const Frame<'a>,
    is_own: bool,
    f: &mut dyn FnMut(FrameValue<'a>) -> bool,
) -> bool {
    // SAFETY: the caller says so.
    while let Some(frame) = unsafe { list.as_ref() } {
        let ended = match frame.value {
            FrameValue::Own(..) if !is_own => false,
            // SAFETY: the joiner waits for the thread that has this frame.
            FrameValue::Joiner(joiner) => unsafe { each(joiner, false, f) },
            value => f(value),
        };
        if ended {
            return true;
        }
        list = frame.below;
    }
    false
}

/// All that a task or a job inherits.
#[derive(Clone)]
pub(crate) struct Inherited(Arc<Values>);

#[derive(Default)]
struct Values {
    account: Option<Account>,
    values: Vec<(usize, Shared)>,
}

impl Values {
    fn has(&self, key: usize) -> bool {
        self.values.iter().any(|(other, _)| *other == key)
    }

    fn add(&mut self, key: usize, value: &Shared) {
        if !self.has(key) {
            self.values.push((key, value.clone()));
        }
    }
}

/// Returns what tasks and jobs that this thread starts inherit.
#[inline]
pub(crate) fn inherited() -> Option<Inherited> {
    let top = TOP.with(Cell::get);
    // SAFETY: as in `with_found`.
    if top.is_null() { None } else { unsafe { gather(top) } }
}

/// # Safety
///
/// As for [`each`].
#[cold]
unsafe fn gather<'a>(top: *const Frame<'a>) -> Option<Inherited> {
    let mut all = Values::default();
    let mut whole = None;
    // SAFETY: the caller says so.
    unsafe {
        each(top, true, &mut |value| {
            let is_first = all.account.is_none() && all.values.is_empty();
            match value {
                FrameValue::Own(..) | FrameValue::Joiner(_) => {}
                FrameValue::Shared(key, value) => all.add(key, value),
                FrameValue::Account(account) => {
                    _ = all.account.get_or_insert_with(|| account.clone())
                }
                // Below what was inherited, there is nothing, or the same in another form.
                FrameValue::Inherited(inherited) if is_first => whole = Some(inherited.clone()),
                FrameValue::Inherited(inherited) => {
                    let Values { account, values } = &*inherited.0;
                    values.iter().for_each(|(key, value)| all.add(*key, value));
                    all.account = all.account.take().or_else(|| account.clone());
                }
            }
            whole.is_some()
        });
    }
    let is_empty = all.account.is_none() && all.values.is_empty();
    whole.or_else(|| (!is_empty).then(|| Inherited(Arc::new(all))))
}

impl Inherited {
    /// Returns the account that is inherited.
    pub(super) fn account(&self) -> Option<&Account> {
        self.0.account.as_ref()
    }

    fn value(&self, key: usize) -> Option<&dyn Any> {
        let found = self.0.values.iter().find(|(other, _)| *other == key);
        found.map(|(_, value)| &**value as &dyn Any)
    }

    /// Runs `f` with what was inherited, as a poll or a job.
    pub(crate) fn enter<R>(&self, as_what: Metered, f: impl FnOnce() -> R) -> R {
        let _metered = account::meter(self.account(), as_what);
        with_frame(FrameValue::Inherited(self), f)
    }
}

/// Runs a job with what it has inherited, if anything.
#[inline]
pub(crate) fn run_job<R>(inherited: Option<Inherited>, f: impl FnOnce() -> R) -> R {
    match inherited {
        None => f(),
        Some(inherited) => inherited.enter(Metered::Job, f),
    }
}

/// The values in force where a `join` is called.
#[derive(Clone, Copy)]
pub(crate) struct Joiner(*const Frame<'static>);

impl Joiner {
    #[inline(always)]
    pub(crate) fn here() -> Self {
        Self(TOP.with(Cell::get))
    }

    /// Runs `f` on another thread as if it were called by the joiner.
    ///
    /// # Safety
    ///
    /// The thread that was `here` waits in the same place until this returns.
    #[inline]
    pub(crate) unsafe fn on_behalf<R>(self, f: impl FnOnce() -> R) -> R {
        if self.0.is_null() {
            return f();
        }
        // SAFETY: the joiner waits in its frame, and all frames in the list are below that.
        let account = unsafe { account_in(self.0) };
        let _metered = account::meter(account, Metered::Job);
        with_frame(FrameValue::Joiner(self.0), f)
    }
}
