//! The OS behind the poller. A backend provides:
//!
//! - `Descriptor<'a>`, `RawDescriptor` and `raw`: a borrowed descriptor, its bare name, and the way
//!   from one to the other;
//! - `Events`: a buffer for one harvest, which iterates as `(token, Readiness)`;
//! - `Selector::new() -> io::Result<Selector>`;
//! - `register(&self, Descriptor<'_>, token: u64) -> io::Result<()>`: both directions, at once and
//!   for good; every change is reported once (edge-triggered);
//! - `deregister(&self, RawDescriptor)`: no event of it is harvested afterwards, but one harvested
//!   before may still be on its way;
//! - `harvest(&self, &mut Events) -> io::Result<usize>`: takes what events there are, without
//!   blocking; by one thread at a time;
//! - `sit(&self, &mut Events) -> io::Result<usize>`: as `harvest`, but blocks until there is an event or
//!   somebody calls `kick_seat(&self)`, which is kept if nobody sits;
//! - `arm_gate(&self) -> io::Result<()>`: has `wait` return as soon as there is something to harvest
//!   (at once if there is something already), and once only;
//! - `wait(&self, Option<Duration>) -> io::Result<Woken>`: blocks until the gate fires, somebody
//!   kicks, or the time is over, to the nanosecond where the OS can; never early for a time-out
//!   that the OS can express, and a longer one is cut, never wrapped;
//! - `kick(&self)`: has `wait` return; kept if nobody waits;
//! - `descriptor(&self) -> Descriptor<'_>`: becomes readable when `wait` would return, to be nested in
//!   another event loop.
//!
//! The backend is chosen here and nowhere else.

#[cfg(all(not(loom), target_os = "linux"))]
mod epoll;
#[cfg(loom)]
mod model;

#[cfg(all(not(loom), target_os = "linux"))]
pub use epoll::{Descriptor, RawDescriptor};
#[cfg(all(not(loom), target_os = "linux"))]
pub(crate) use epoll::{Events, Selector, raw};
#[cfg(loom)]
pub use model::{Descriptor, RawDescriptor};
#[cfg(loom)]
pub(crate) use model::{Events, Selector, raw};

#[cfg(not(any(loom, target_os = "linux")))]
compile_error!("windlass has no poller for this operating system yet: it runs on Linux");

/// Why a wait ended; neither if the time was over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Woken {
    /// There is something to harvest.
    pub(crate) gate: bool,
    /// Somebody kicked.
    pub(crate) kicked: bool,
}
