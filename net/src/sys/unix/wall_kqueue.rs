//! A timer of the OS on the wall clock: kqueue's, which the runtime has at hand.

pub(crate) use windlass_runtime::io::os::WallClock;
