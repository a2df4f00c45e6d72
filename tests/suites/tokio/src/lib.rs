//! tokio's interface over windlass, as far as tokio's own tests need it.
//!
//! It takes the place of `tokio` by `[patch.crates-io]` while `scripts/tokio-suite` runs tokio's tests. It is a test
//! instrument, not a library: it says nothing by itself, so that a test passes or fails by what windlass does. Where
//! windlass has no counterpart, a function panics with [`missing`], and the tests that call it are listed as different.
//!
//! What knows no runtime (channels, locks, I/O traits and what is built on them, `select!`) is the genuine tokio's.

pub mod fs;
pub mod io;
pub mod net;
pub mod process;
pub mod runtime;
pub mod signal;
pub mod task;
pub mod time;

pub use genuine::{join, pin, select, sync, try_join};
pub use task::spawn;
pub use tokio_macros::{main, test};
pub use windlass::task_local;

/// Ends a test that needs something windlass does not have.
#[track_caller]
fn missing(what: &str) -> ! {
    panic!("windlass has no counterpart of {what}")
}
