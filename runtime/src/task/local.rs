//! Task-local values, which belong to a task on whatever thread it is polled. `frames.rs` keeps them in force.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;

use super::frames;
use super::scoped::{Enter, Scoped};

/// Declares task-local values. Each `static` is a key of type [`LocalKey`](crate::task::LocalKey). Each `inherited
/// static` is one of type [`InheritedKey`](crate::task::InheritedKey), whose value is visible to everything that is
/// started in its scope.
///
/// # Examples
///
/// ```
/// windlass::task_local! {
///     static REQUEST: u64;
///     pub static USER: String;
/// }
///
/// # windlass::block_on(async {
/// let task = windlass::spawn(REQUEST.scope(7, async {
///     windlass::yield_now().await; // may continue on another thread
///     REQUEST.get()
/// }));
/// assert_eq!(task.await.unwrap(), 7);
/// # });
/// ```
#[macro_export]
macro_rules! task_local {
    () => {};
    ($(#[$attribute:meta])* $vis:vis inherited static $name:ident: $type:ty $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $vis static $name: $crate::task::InheritedKey<$type> = $crate::task::InheritedKey::new();
        $($crate::task_local! { $($rest)* })?
    };
    ($(#[$attribute:meta])* $vis:vis static $name:ident: $type:ty $(; $($rest:tt)*)?) => {
        $(#[$attribute])*
        $vis static $name: $crate::task::LocalKey<$type> = $crate::task::LocalKey::new();
        $($crate::task_local! { $($rest)* })?
    };
}

/// The key of a task-local value, declared with [`task_local!`](crate::task_local).
///
/// A value is set by [`scope`](Self::scope), and visible to everything that the future of the scope calls while it is
/// polled. Tasks spawned in the scope do not inherit it (see [`InheritedKey`](super::InheritedKey)), and neither do
/// other tasks that a worker polls at the split points of a computation inside of the scope.
///
/// The closures of [`join`](crate::join) and [`Scope::spawn`](crate::Scope::spawn) may run on any worker, so they may
/// or may not see a value. Read it with [`get`](Self::get) beforehand, and pass it to them.
pub struct LocalKey<T: 'static> {
    // Zero-sized statics may share an address, and keys are told apart by their addresses.
    _address: u8,
    value: PhantomData<fn() -> T>,
}

impl<T: 'static> LocalKey<T> {
    /// Returns a future that runs `future` with the value set. The value is dropped when the future is.
    ///
    /// Dropping it drops `future` first, which still sees the value, and then the value.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::task_local! { static USER: &'static str; }
    ///
    /// # windlass::block_on(async {
    /// assert_eq!(USER.scope("ann", async { USER.get() }).await, "ann");
    /// # });
    /// ```
    pub fn scope<F: Future>(&'static self, value: T, future: F) -> TaskLocalFuture<T, F> {
        Scoped::new(LocalValue { key: self, value: Some(value) }, future)
    }

    /// Runs a closure with the value set.
    ///
    /// # Examples
    ///
    /// ```
    /// windlass::task_local! { static DEPTH: u32; }
    ///
    /// assert_eq!(DEPTH.sync_scope(1, || DEPTH.sync_scope(2, || DEPTH.get())), 2);
    /// ```
    pub fn sync_scope<R>(&'static self, value: T, f: impl FnOnce() -> R) -> R {
        frames::with_own(self.address(), &value, f)
    }
}

/// Methods that read a key's value and compare keys, the same for both kinds of keys.
macro_rules! key_methods {
    ($key:ident, $static:literal, [$($bound:tt)*]) => {
        impl<T: $($bound)*> $key<T> {
            #[doc(hidden)]
            pub const fn new() -> Self {
                Self { _address: 0, value: PhantomData }
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
            #[doc = concat!("windlass::task_local! { ", $static, " USER: String; }")]
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
            #[doc = concat!("windlass::task_local! { ", $static, " USER: String; }")]
            ///
            /// assert!(USER.try_with(|user| user.len()).is_err());
            /// ```
            pub fn try_with<R>(
                &'static self,
                f: impl FnOnce(&T) -> R,
            ) -> Result<R, $crate::task::AccessError> {
                $crate::task::frames::with_found(self.address(), |value| {
                    let value = value.and_then(|value| value.downcast_ref());
                    value.map(f).ok_or($crate::task::local::OUTSIDE)
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
            #[doc = concat!("windlass::task_local! { ", $static, " NUMBER: u32; }")]
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
            #[doc = concat!("windlass::task_local! { ", $static, " NUMBER: u32; }")]
            ///
            /// assert!(NUMBER.try_get().is_err());
            /// ```
            pub fn try_get(&'static self) -> Result<T, $crate::task::AccessError>
            where
                T: Clone,
            {
                self.try_with(T::clone)
            }

            fn address(&'static self) -> usize {
                std::ptr::from_ref(self).addr()
            }
        }

        windlass_sync::opaque_debug!([T: $($bound)*] $key<T>);
    };
}
pub(super) use key_methods;

key_methods! { LocalKey, "static", ['static] }

/// The value of a [`LocalKey`], in a scope of it.
pub struct LocalValue<T: 'static> {
    key: &'static LocalKey<T>,
    value: Option<T>,
}

// The value is never pinned.
impl<T: 'static> Unpin for LocalValue<T> {}

impl<T: 'static> Enter for LocalValue<T> {
    fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        match &self.value {
            Some(value) => frames::with_own(self.key.address(), value, f),
            None => f(),
        }
    }
}

/// A future with a task-local value. Returned by [`LocalKey::scope`].
pub type TaskLocalFuture<T, F> = Scoped<LocalValue<T>, F>;

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// Takes the value of a [`LocalKey`] out. Later polls run without it.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// windlass::task_local! { static COUNT: u32; }
    ///
    /// # windlass::block_on(async {
    /// let mut future = pin!(COUNT.scope(3, async { COUNT.get() }));
    /// assert_eq!(future.as_mut().await, 3);
    /// assert_eq!(future.take_value(), Some(3));
    /// # });
    /// ```
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        self.scope_mut().value.take()
    }
}

/// The error of reading a task-local value outside of its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessError(());

pub(super) const OUTSIDE: AccessError = AccessError(());

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a task-local value was used outside of its scope: wrap the future in `KEY.scope(value, future)`",
        )
    }
}

impl Error for AccessError {}
