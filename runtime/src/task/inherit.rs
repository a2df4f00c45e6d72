//! Task-local values that are passed on to what a task starts.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Arc;

use super::frames::{self, Shared};
use super::local::AccessError;
use super::scoped::{Enter, Scoped};

/// The key of a task-local value that is inherited: `inherited static` in [`task_local!`](crate::task_local).
///
/// A value is visible as that of a [`LocalKey`](super::LocalKey) is, and besides to everything that is started in its
/// scope: tasks, closures of [`spawn_blocking`](crate::spawn_blocking) and [`compute`](crate::compute), the closures of
/// [`join`](crate::join) and the jobs of [`scope`](crate::scope()), whichever worker runs them, and all that those start.
/// They share the value, which is dropped when the scope and the last of them are gone.
///
/// # Examples
///
/// ```
/// windlass::task_local! {
///     /// The request that is being served.
///     pub inherited static REQUEST: u64;
/// }
///
/// # windlass::block_on(async {
/// let request = REQUEST.scope(7, async {
///     let task = windlass::spawn(async {
///         windlass::spawn_blocking(|| REQUEST.get()).await.unwrap()
///     });
///     task.await.unwrap()
/// });
/// assert_eq!(request.await, 7);
/// # });
/// ```
pub struct InheritedKey<T: Send + Sync + 'static> {
    // Zero-sized statics may share an address, and keys are told apart by their addresses.
    _address: u8,
    value: PhantomData<fn() -> T>,
}

/// The value of an [`InheritedKey`], in a scope of it.
pub struct InheritedValue<T: Send + Sync + 'static> {
    key: &'static InheritedKey<T>,
    value: Shared,
}

impl<T: Send + Sync + 'static> Enter for InheritedValue<T> {
    fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        frames::with_shared(self.key.address(), &self.value, f)
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for InheritedValue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InheritedValue").finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> InheritedKey<T> {
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self { _address: 0, value: PhantomData }
    }

    /// Returns a future that runs `future` with the value set, for it and for all that it starts.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::task_local! { inherited static USER: &'static str; }
    ///
    /// # windlass::block_on(async {
    /// let task = USER.scope("ann", async { windlass::spawn(async { USER.get() }).await });
    /// assert_eq!(task.await.unwrap(), "ann");
    /// # });
    /// ```
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> Scoped<InheritedValue<T>, F> {
        Scoped::new(InheritedValue { key: self, value: Arc::new(value) }, future)
    }

    /// Runs a closure with the value set, for it and for all that it starts.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::task_local! { inherited static DEPTH: u32; }
    ///
    /// let task = DEPTH.sync_scope(1, || windlass::spawn(async { DEPTH.get() }));
    /// assert_eq!(windlass::block_on(task).unwrap(), 1);
    /// ```
    pub fn sync_scope<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        InheritedValue { key: self, value: Arc::new(value) }.enter(f)
    }

    /// Calls `f` with the value.
    ///
    /// # Panics
    ///
    /// Panics outside of any scope of this key.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::task_local! { inherited static USER: String; }
    ///
    /// assert_eq!(USER.sync_scope("ann".to_owned(), || USER.with(|user| user.len())), 3);
    /// ```
    #[track_caller]
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        match self.try_with(f) {
            Ok(result) => result,
            Err(error) => panic!("{error}"),
        }
    }

    /// Calls `f` with the value.
    ///
    /// # Errors
    ///
    /// Returns an error outside of any scope of this key, without calling `f`.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::task_local! { inherited static USER: String; }
    ///
    /// assert!(USER.try_with(|user| user.len()).is_err());
    /// ```
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        frames::with_found(self.address(), |value| {
            value.and_then(|value| value.downcast_ref()).map(f).ok_or(AccessError::new())
        })
    }

    /// Returns a clone of the value.
    ///
    /// # Panics
    ///
    /// Panics outside of any scope of this key.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::task_local! { inherited static NUMBER: u32; }
    ///
    /// assert_eq!(NUMBER.sync_scope(7, || NUMBER.get()), 7);
    /// ```
    #[track_caller]
    pub fn get(&'static self) -> T
    where
        T: Clone,
    {
        self.with(T::clone)
    }

    /// Returns a clone of the value.
    ///
    /// # Errors
    ///
    /// Returns an error outside of any scope of this key.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::task_local! { inherited static NUMBER: u32; }
    ///
    /// assert!(NUMBER.try_get().is_err());
    /// ```
    pub fn try_get(&'static self) -> Result<T, AccessError>
    where
        T: Clone,
    {
        self.try_with(T::clone)
    }

    fn address(&'static self) -> usize {
        ptr::from_ref(self).addr()
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for InheritedKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InheritedKey").finish_non_exhaustive()
    }
}
