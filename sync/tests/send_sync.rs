//! Which types are `Send`, `Sync` and so on, checked by the compiler.
#![cfg(not(loom))]

use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

use windlass_sync::{
    AutoResetEvent, AutoResetWait, CancellationToken, Cancelled, CancelledOwned, DropGuard,
    DropGuardRef, Latch, LatchWait, ManualResetEvent, ManualResetWait, Parker, Unparker,
};

/// Is `true` by an inherent constant if `T` has the trait, and `false` by the fallback otherwise.
struct Probe<T>(PhantomData<T>);

macro_rules! probe {
    ($($constant:ident: $has:path, $fallback:ident;)*) => {$(
        #[allow(dead_code, reason = "if every type has the trait")]
        trait $fallback {
            const $constant: bool = false;
        }
        impl<T> $fallback for Probe<T> {}
        impl<T: $has> Probe<T> {
            const $constant: bool = true;
        }
    )*};
}

probe! {
    SEND: Send, NotSend;
    SYNC: Sync, NotSync;
    UNPIN: Unpin, NotUnpin;
    UNWIND: UnwindSafe, NotUnwindSafe;
    REF_UNWIND: RefUnwindSafe, NotRefUnwindSafe;
}

macro_rules! table {
    ($($type:ty: $send:literal $sync:literal $unpin:literal;)*) => {$(
        const _: () = {
            assert!(Probe::<$type>::SEND == $send, "Send");
            assert!(Probe::<$type>::SYNC == $sync, "Sync");
            assert!(Probe::<$type>::UNPIN == $unpin, "Unpin");
        };
    )*};
}

table! {
    //                         Send  Sync  Unpin
    Latch:                     true  true  true;
    LatchWait<'static>:        true  true  false;
    AutoResetEvent:            true  true  true;
    AutoResetWait<'static>:    true  true  false;
    ManualResetEvent:          true  true  true;
    ManualResetWait<'static>:  true  true  false;
    CancellationToken:         true  true  true;
    Cancelled<'static>:        true  true  false;
    CancelledOwned:            true  true  false;
    DropGuard:                 true  true  true;
    DropGuardRef<'static>:     true  true  true;
    Parker:                    true  false true;
    Unparker:                  true  true  true;
}

macro_rules! unwind_safe {
    ($($type:ty),*) => {$(
        const _: () = assert!(Probe::<$type>::UNWIND && Probe::<$type>::REF_UNWIND);
    )*};
}

unwind_safe!(Latch, AutoResetEvent, ManualResetEvent, CancellationToken, DropGuard);

/// `static`s need a `const` constructor.
static LATCH: Latch = Latch::new(1);
static AUTO: AutoResetEvent = AutoResetEvent::new(true);
static MANUAL: ManualResetEvent = ManualResetEvent::new(true);

#[test]
fn usable_as_statics() {
    LATCH.count_down();
    LATCH.wait_blocking();
    AUTO.wait_blocking();
    MANUAL.wait_blocking();
}

#[test]
fn debug_output_tells_the_state() {
    assert_eq!(format!("{AUTO:?}").split(' ').next(), Some("AutoResetEvent"));
    let event = ManualResetEvent::new(false);
    assert_eq!(format!("{event:?}"), "ManualResetEvent { set: false, .. }");
    assert_eq!(format!("{:?}", event.wait()), "ManualResetWait(not polled yet)");
    assert_eq!(format!("{:?}", Latch::new(3)), "Latch { count: 3, .. }");
    let token = CancellationToken::new();
    token.cancel();
    assert_eq!(format!("{token:?}"), "CancellationToken { cancelled: true, .. }");
}
