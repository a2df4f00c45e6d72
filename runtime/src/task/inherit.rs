//! Task-local values that are passed on to what a task starts.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use super::frames::{self, Shared};
use super::local::key_methods;
use super::scoped::{Enter, Scoped};

/// The key of a task-local value that is inherited: `inherited static` in [`task_local!`](crate::task_local).
///
/// A value is visible like that of a [`LocalKey`](super::LocalKey), and also to everything that is started in its
/// scope: tasks, closures of [`spawn_blocking`](crate::spawn_blocking) and [`compute`](crate::compute), the closures of
/// [`join`](crate::join) and the jobs of [`scope`](crate::scope()), whichever worker runs them, and all that those
/// start. They share the value, which is dropped when the scope is gone and the last of them has ended.
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

windlass_sync::opaque_debug!([T: Send + Sync + 'static] InheritedValue<T>);

impl<T: Send + Sync + 'static> InheritedKey<T> {
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
}

key_methods! { InheritedKey, "inherited static", [Send + Sync + 'static] }
