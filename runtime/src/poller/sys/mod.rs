//! The OS behind the poller. A backend provides:
//!
//! - `Descriptor<'a>`, `RawDescriptor` and `raw`: a borrowed descriptor, its bare name, and the way
//!   from one to the other;
//! - `Events`: a buffer for one harvest, which iterates as `(token, Readiness)`, and which `clear` empties;
//! - `Selector::new() -> io::Result<Selector>`;
//! - `register(&self, Descriptor<'_>, token: u64) -> io::Result<()>`: both directions, at once and
//!   for good; every change is reported once (edge-triggered);
//! - `deregister(&self, RawDescriptor)`: no event of it is harvested afterwards, but one harvested
//!   before may still be on its way;
//! - `harvest(&self, &mut Events) -> io::Result<usize>`: takes what events there are, without
//!   blocking; by one thread at a time;
//! - `sit(&self, &mut Events, Option<Duration>) -> io::Result<usize>`: as `harvest`, but blocks until
//!   there is an event, the time is over (as in `wait`), or somebody calls `kick_seat(&self)`, which is
//!   kept if nobody sits. What is counted beside the sources' events (a kick) `Events` does not show;
//! - `keep_time()`: called once by each thread before it waits or sits; has the OS wake it as
//!   punctually as it can;
//! - `take_short_turns()`: has the OS divide the current thread's share of the CPU into many short turns,
//!   where it can: it runs sooner when it is woken, and others wait for less behind it;
//! - `times_preempted() -> u64`: how often the OS has taken the CPU from the current thread while it had
//!   something to do; always the same where the OS does not tell;
//! - `arm_gate(&self) -> io::Result<()>`: has `wait` return as soon as there is something to harvest
//!   (at once if there is something already), and once only;
//! - `wait(&self, Option<Duration>) -> io::Result<Woken>`: blocks until the gate fires, somebody
//!   kicks, or the time is over, to the nanosecond where the OS can; never early for a time-out
//!   that the OS can express, and a longer one is cut, never wrapped;
//! - `kick(&self)`: has `wait` return; kept if nobody waits;
//! - `descriptor(&self) -> Descriptor<'_>`: becomes readable when `wait` would return, to be nested in
//!   another event loop;
//! - `alarm(&self, Option<Duration>) -> io::Result<()>`: has `wait` return, and the descriptor become
//!   readable, when the time is over. The next call replaces it, `None` takes it back, and `wait` with a
//!   time-out may do so too. Called by the one thread that waits, in a manual loop only.
//!
//! Windows reports no events to be harvested: its callbacks bring them. What differs there is in `push`,
//! which every other backend leaves as it is.
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
mod fd;
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

#[cfg(all(not(loom), windows))]
pub(crate) use backend::push;
pub use backend::{Descriptor, RawDescriptor};
pub(crate) use backend::{Events, Selector, keep_time, raw, take_short_turns, times_preempted};
pub(crate) use push::DROP_GRACE;

/// What the crates above may use of a backend beside its contract.
#[doc(hidden)]
pub mod os {
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
    pub use super::backend::WallClock;
}

/// Why a wait ended; neither if the time was over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Woken {
    /// There is something to harvest.
    pub(crate) gate: bool,
    /// Somebody kicked.
    pub(crate) kicked: bool,
}
