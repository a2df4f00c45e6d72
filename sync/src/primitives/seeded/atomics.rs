//! Atomics and cells whose accesses are steps of a model.

use std::sync::atomic::{self, AtomicIsize, Ordering};

use super::schedule;

/// Takes a step, and nothing more, because all threads see the newest values anyway.
pub fn fence(_order: Ordering) {
    schedule::step();
}

macro_rules! steps {
    ($(fn $name:ident(&self $(, $argument:ident: $of:ty)*) -> $result:ty;)*) => {
        $(
            /// The same as `std`'s, after a step.
            #[track_caller]
            pub fn $name(&self $(, $argument: $of)*) -> $result {
                schedule::step();
                self.0.$name($($argument),*)
            }
        )*
    };
}

macro_rules! atomic {
    ($name:ident $(<$T:ident>)?, $value:ty, { $($more:tt)* }) => {
        /// Like `std`'s, but each access is a step of a model.
        pub struct $name $(<$T>)? (atomic::$name $(<$T>)?);

        impl $(<$T>)? std::fmt::Debug for $name $(<$T>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl $(<$T>)? Default for $name $(<$T>)? {
            fn default() -> Self {
                Self(Default::default())
            }
        }

        impl $(<$T>)? $name $(<$T>)? {
            /// Creates one with this value.
            pub const fn new(value: $value) -> Self {
                Self(atomic::$name::new(value))
            }

            /// Returns the value without a step, because the borrow is exclusive.
            pub fn with_mut<R>(&mut self, f: impl FnOnce(&mut $value) -> R) -> R {
                f(self.0.get_mut())
            }

            /// The same as `std`'s, after a step.
            pub fn fetch_update(
                &self,
                success: Ordering,
                failure: Ordering,
                f: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                schedule::step();
                self.0.fetch_update(success, failure, f)
            }

            steps! {
                fn load(&self, order: Ordering) -> $value;
                fn store(&self, value: $value, order: Ordering) -> ();
                fn swap(&self, value: $value, order: Ordering) -> $value;
                fn compare_exchange(&self, from: $value, to: $value, success: Ordering, failure: Ordering)
                    -> Result<$value, $value>;
                fn compare_exchange_weak(&self, from: $value, to: $value, success: Ordering, failure: Ordering)
                    -> Result<$value, $value>;
                $($more)*
            }
        }
    };
}

macro_rules! integer {
    ($name:ident, $value:ty) => {
        atomic!($name, $value, {
            fn fetch_add(&self, value: $value, order: Ordering) -> $value;
            fn fetch_sub(&self, value: $value, order: Ordering) -> $value;
            fn fetch_and(&self, value: $value, order: Ordering) -> $value;
            fn fetch_or(&self, value: $value, order: Ordering) -> $value;
            fn fetch_xor(&self, value: $value, order: Ordering) -> $value;
            fn fetch_max(&self, value: $value, order: Ordering) -> $value;
            fn fetch_min(&self, value: $value, order: Ordering) -> $value;
        });
    };
}

atomic!(AtomicBool, bool, {
    fn fetch_and(&self, value: bool, order: Ordering) -> bool;
    fn fetch_or(&self, value: bool, order: Ordering) -> bool;
});
atomic!(AtomicPtr<T>, *mut T, {});
integer!(AtomicU8, u8);
integer!(AtomicU32, u32);
integer!(AtomicU64, u64);
integer!(AtomicUsize, usize);

/// A cell that passes its pointer to closures, and sees accesses that overlap.
#[derive(Debug, Default)]
pub struct UnsafeCell<T> {
    value: std::cell::UnsafeCell<T>,
    /// How many closures read, or -1 while one writes.
    accesses: AtomicIsize,
}

impl<T> UnsafeCell<T> {
    /// Creates one with this value.
    pub const fn new(value: T) -> Self {
        Self { value: std::cell::UnsafeCell::new(value), accesses: AtomicIsize::new(0) }
    }

    /// Calls `f` with a pointer for shared access.
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        let before = self.accesses.fetch_add(1, Ordering::Relaxed);
        assert!(before >= 0, "a cell is read while another thread writes it");
        let result = f(self.value.get());
        self.accesses.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// Calls `f` with a pointer for exclusive access.
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        let before = self.accesses.swap(-1, Ordering::Relaxed);
        assert!(before == 0, "a cell is written while another thread accesses it");
        let result = f(self.value.get());
        self.accesses.store(0, Ordering::Relaxed);
        result
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}
