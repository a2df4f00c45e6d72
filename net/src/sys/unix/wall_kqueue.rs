//! A timer of the OS on the wall clock: kqueue's, which the runtime provides.

pub(crate) use windlass_runtime::io::os::WallClock;
