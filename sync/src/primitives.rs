//! The only module that names `std::sync`, so that loom can replace it.
//!
//! All crates of the workspace take their atomics, cells, locks and threads from here. With `--cfg loom` they are
//! loom's, and the models in `loom-tests` check the code that ships. With `--cfg windlass_seeded` as well, they are
//! those of `seeded`, for models that are too large for loom. This module is an implementation detail. It is `pub` only
//! for the other crates of the workspace.
//!
//! Two things differ from `std`: [`UnsafeCell`] passes its pointer to closures, so that loom sees how long an access
//! lasts, and [`Mutex`] ignores poisoning, because none of our critical sections runs user code that could panic.

#[cfg(all(loom, not(windlass_seeded)))]
mod model;
#[cfg(not(loom))]
mod real;
#[cfg(all(loom, windlass_seeded))]
pub mod seeded;

/// Reads `word`, to avoid an exchange that cannot succeed. The value orders nothing and may be out of date.
///
/// In models it returns `guess` without reading. To look for races, loom goes back from an exchange to the access
/// before it. Our own load would be that access, and would hide all others.
#[inline(always)]
pub fn peek(word: &AtomicUsize, guess: usize) -> usize {
    if cfg!(loom) { guess } else { word.load(Ordering::Relaxed) }
}

/// Like [`peek`], but for a pointer that the caller is about to exchange.
///
/// In models it is an exchange that always fails, from which loom does go back.
#[inline(always)]
pub fn peek_pointer<T>(place: &AtomicPtr<T>) -> *mut T {
    #[cfg(loom)]
    {
        let nobody = std::ptr::without_provenance_mut(1);
        let seen = place.compare_exchange(nobody, nobody, Ordering::Relaxed, Ordering::Relaxed);
        seen.unwrap_or_else(|seen| seen)
    }
    #[cfg(not(loom))]
    place.load(Ordering::Relaxed)
}

/// Atomics that order nothing and that no model has to see, such as statistics and ids.
///
/// They are `std`'s even under loom, which would otherwise explore all of their interleavings.
pub mod plain {
    pub use std::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
    };
}

/// Declares a thread-local [`Cell`](std::cell::Cell) that is never destroyed, so that the destructors of other
/// thread-locals can access it. Under loom it is loom's thread-local, because loom's threads share one OS thread.
#[doc(hidden)]
#[macro_export]
#[cfg(not(loom))]
macro_rules! thread_cell {
    ($vis:vis static $name:ident: $type:ty = $init:expr) => {
        ::std::thread_local! {
            $vis static $name: ::std::cell::Cell<$type> = const { ::std::cell::Cell::new($init) };
        }
    };
}

#[doc(hidden)]
#[macro_export]
#[cfg(loom)]
macro_rules! thread_cell {
    ($vis:vis static $name:ident: $type:ty = $init:expr) => {
        $crate::primitives::loom::thread_local! {
            $vis static $name: ::std::cell::Cell<$type> = ::std::cell::Cell::new($init);
        }
    };
}

/// Stand-ins for loom's types in models that loom does not run.
#[cfg(all(loom, windlass_seeded))]
#[doc(hidden)]
pub mod loom {
    pub use std::{alloc, thread_local};
}

#[cfg(all(loom, not(windlass_seeded)))]
#[doc(hidden)]
pub use ::loom;
#[cfg(all(loom, not(windlass_seeded)))]
pub use model::*;
#[cfg(not(loom))]
pub use real::*;
#[cfg(all(loom, windlass_seeded))]
pub use {
    seeded::*,
    std::sync::{Arc, atomic::Ordering},
    std::thread_local,
};
