//! What may go from thread to thread, checked when this file is compiled.

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use windlass::observe::{Histogram, SiteMetrics, TaskInfo};
use windlass::task::{self, AbortHandle, AbortOnDropHandle, Id, JoinError, JoinHandle, JoinSet};
use windlass::timer::{Elapsed, Interval, MissedTick, Sleep, Timeout, Timer, TimerWait};
use windlass::{
    Builder, EnterGuard, Handle, Metrics, Runtime, ShutdownReport, Straggler, WorkerMetrics,
};

macro_rules! is {
    ($type:ty: $($bound:path),+) => {
        const _: fn() = || {
            $({
                fn check<T: $bound>() {}
                check::<$type>();
            })+
        };
    };
}

macro_rules! is_not {
    ($type:ty: $bound:path) => {
        const _: fn() = || {
            // Two impls for a type that has the trait after all, and nothing to choose by.
            trait AmbiguousIf<A> {
                fn check() {}
            }
            struct Has;
            impl<T: ?Sized> AmbiguousIf<()> for T {}
            impl<T: ?Sized + $bound> AmbiguousIf<Has> for T {}
            let _ = <$type as AmbiguousIf<_>>::check;
        };
    };
}

/// `Send` but not `Sync`.
type Unshared = Cell<u8>;
/// Neither.
type Local = Rc<u8>;

is!(Runtime: Send, Sync, Unpin);
is!(Handle: Send, Sync, Unpin, Clone);
is!(Builder: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(Metrics: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(WorkerMetrics: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy);
is!(Histogram: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(SiteMetrics: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(TaskInfo: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(ShutdownReport: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(Straggler: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(task::Builder: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(Id: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, std::hash::Hash, Ord);
is!(AbortHandle: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(JoinError: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, std::error::Error);

is!(JoinHandle<u8>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
is!(JoinHandle<Unshared>: Send, Sync, Unpin);
is!(JoinHandle<std::marker::PhantomPinned>: Unpin);
is_not!(JoinHandle<Local>: Send);
is_not!(JoinHandle<Local>: Sync);
is_not!(JoinHandle<u8>: Clone);

is!(AbortOnDropHandle<u8>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);

is!(JoinSet<u8>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
is!(JoinSet<Unshared>: Send, Sync);
is_not!(JoinSet<Local>: Send);
is_not!(JoinSet<Local>: Sync);

is!(Sleep: Send, Sync, Unpin);
is!(Timer: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Clone);
is!(TimerWait<'static>: Send, Sync, Unpin);
is!(Interval: Send, Sync, Unpin);
is!(MissedTick: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, std::hash::Hash);
is!(Elapsed: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy, std::error::Error);
is!(Timeout<Unshared>: Send, Unpin);
is_not!(Timeout<Unshared>: Sync);
is_not!(Timeout<Local>: Send);
is_not!(Timeout<std::marker::PhantomPinned>: Unpin);

// Bound to the thread whose current runtime it will put back.
is_not!(EnterGuard<'static>: Send);
is!(EnterGuard<'static>: Unpin);

/// What the free functions return can be awaited by tasks.
#[test]
fn futures_of_the_facade_are_send() {
    fn is_send<T: Send>(_: T) {}
    is_send(windlass::yield_now());
    is_send(windlass::resume_on_pool());
    is_send(task::yield_now());
    is_send(task::consume_budget());
    is_send(task::cooperative(std::future::ready(1)));
    let mut set = JoinSet::<Unshared>::new();
    is_send(set.join_next());
    is_send(set.join_next_with_id());
    is_send(set.shutdown());
    is_send(set.join_all());
    let mut ticks = windlass::timer::interval(std::time::Duration::from_secs(1));
    is_send(ticks.tick());
}

/// Told at run time, so that the others of this file are told, too.
#[test]
fn a_runtime_and_its_handle_may_cross_catch_unwind() {
    /// `IS` is the inherent one where the bounds hold, and the trait's elsewhere.
    struct Safe<T>(std::marker::PhantomData<T>);
    trait Otherwise {
        const IS: bool = false;
    }
    impl<T> Otherwise for Safe<T> {}
    impl<T: UnwindSafe + RefUnwindSafe> Safe<T> {
        const IS: bool = true;
    }
    let told = [Safe::<&mut u8>::IS, Safe::<u8>::IS, Safe::<Handle>::IS, Safe::<Runtime>::IS];
    assert_eq!(told, [false, true, true, true]);
}
