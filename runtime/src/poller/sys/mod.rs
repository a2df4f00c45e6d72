//! The OS behind the poller. A backend provides:
//!
//! - `Descriptor<'a>`, `RawDescriptor` and `raw`: a borrowed descriptor, its bare name, and the way
//!   from one to the other;
//! - `Events`: a buffer for the events of one wait, which iterates as `(token, Readiness)`, and which `clear`
//!   empties;
//! - `Selector::new() -> io::Result<Selector>`;
//! - `register(&self, Descriptor<'_>, token: u64) -> io::Result<()>`: both directions, at once and
//!   for good; every change is reported once (edge-triggered);
//! - `deregister(&self, RawDescriptor)`: no event of it is taken afterwards, but one that was taken before may still be
//!   on its way;
//! - `wait(&self, &mut Events, Option<Duration>) -> io::Result<()>`: takes the available events. If there are none, it
//!   blocks until one comes, a thread calls `kick`, or the time is over. It keeps the time to the nanosecond where the
//!   OS can, and is never early for a time-out that the OS can express; a longer one is cut, never wrapped. It may also
//!   return for no reason. One thread at a time calls it;
//! - `kick(&self)`: has `wait` return; kept if nobody waits. `Events` does not show it;
//! - `descriptor(&self) -> Descriptor<'_>`: becomes readable when `wait` would return, to be nested in
//!   another event loop;
//! - `alarm(&self, Option<Duration>) -> io::Result<()>`: has `wait` return, and the descriptor become
//!   readable, when the time is over. The next call replaces it, `None` takes it back, and `wait` with a
//!   time-out may do so too. Called by the one thread that waits, in a manual loop only;
//! - `keep_time()`: called once by each thread before it waits; has the OS wake it as punctually as it can;
//! - `keeping_time(f)`: the same for what `f` waits for, on a thread of the program's own;
//! - `take_short_slices()`: has the OS divide the current thread's share of the CPU into many short time slices, where
//!   it can. The thread then runs sooner when it is woken, and others wait for less time behind it;
//! - `RunDelay::of_this_thread()` and `read(&self) -> Option<CpuTimes>`: how long the thread has run, and how long it
//!   has waited for a CPU; and `RunDelay::cpu_time_of_process() -> Option<u64>`: how long all threads have run, in
//!   nanoseconds; `None` where the OS does not report it;
//! - `cpu_time_of_thread() -> Option<Duration>`: how long the current thread has run up to this moment;
//! - `number(RawDescriptor) -> u32` and `peer(u32) -> Option<SocketAddr>`: what a list of tasks calls a descriptor, and
//!   the address that it is connected to.
//!
//! On Windows there are no events to take, because callbacks bring them to the sources. What differs there is in
//! `windows/push.rs`; all other backends share `push.rs`.
//!
//! The backend is chosen here and nowhere else. `--cfg windlass_poller="kqueue"` chooses kqueue on Linux,
//! where libkqueue stands in for the kernel's: see `scripts/kqueue`.

#[cfg(all(not(loom), target_os = "linux", not(windlass_poller = "kqueue")))]
#[path = "epoll.rs"]
mod backend;
#[cfg(all(
    not(loom),
    any(
        target_os = "macos",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        all(target_os = "linux", windlass_poller = "kqueue")
    )
))]
#[path = "kqueue/mod.rs"]
mod backend;
#[cfg(loom)]
#[path = "model.rs"]
mod backend;
#[cfg(all(not(loom), windows))]
#[path = "windows/mod.rs"]
mod backend;
#[cfg(all(not(loom), unix))]
mod cpu_clock;
#[cfg(all(not(loom), unix))]
mod fd;
mod policy;
#[cfg(any(loom, not(windows)))]
pub(crate) mod push;
#[cfg(all(test, not(loom), unix))]
mod tests;

#[cfg(not(any(
    loom,
    target_os = "linux",
    target_os = "macos",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd",
    windows
)))]
compile_error!(
    "windlass has no poller for this operating system: it runs on Linux, macOS, FreeBSD, NetBSD, \
     OpenBSD and Windows"
);

#[cfg(not(target_pointer_width = "64"))]
compile_error!(
    "windlass needs a 64-bit target: its tokens and packed counters have 64 bits, and it was never run with fewer"
);

#[cfg(all(not(loom), windows))]
pub(crate) use backend::push;
pub use backend::{Descriptor, RawDescriptor};
pub(crate) use backend::{
    Events, RunDelay, Selector, cpu_time_of_thread, keep_time, keeping_time, number, peer, raw,
    take_short_slices,
};
pub(crate) use push::DROP_GRACE;

/// Parts of a backend that are not in its contract, but that the crates above may use.
#[doc(hidden)]
pub mod os {
    // The condition is that of kqueue.
    #[cfg(all(unix, not(loom), any(not(target_os = "linux"), windlass_poller = "kqueue")))]
    pub use super::backend::WallClock;
}

/// The OS's statistics of a thread, in nanoseconds since the thread began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTimes {
    pub(crate) ran: u64,
    /// Ready to run, with no CPU for it.
    pub(crate) waited: u64,
}

/// Stands in for an OS without such statistics.
#[cfg(any(loom, windows, not(target_os = "linux"), windlass_poller = "kqueue"))]
pub(crate) struct Untold;

#[cfg(any(loom, windows, not(target_os = "linux"), windlass_poller = "kqueue"))]
impl Untold {
    pub(crate) fn of_this_thread() -> Self {
        Self
    }

    pub(crate) fn read(&self) -> Option<CpuTimes> {
        None
    }

    pub(crate) fn cpu_time_of_process() -> Option<u64> {
        None
    }
}
