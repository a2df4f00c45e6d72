//! Moving bytes between streams, and the standard streams of the process.
//!
//! | to | use |
//! |---|---|
//! | copy one stream into another | [`copy`] |
//! | connect two streams, as a proxy does | [`copy_bidirectional`]; [`CopyOptions`] for a time-out and the size of buffers |
//! | use the terminal | [`stdin`], [`stdout`], [`stderr`] |
//!
//! The traits are those of futures-io. Adapters such as `BufReader` and `lines` are in futures-lite and futures-util.

mod bidirectional;
mod copy;
mod output;
mod stdin;
mod transfer;

pub use bidirectional::{CopyBidirectional, CopyOptions, copy_bidirectional};
pub use copy::copy;
pub use output::{Stderr, Stdout, stderr, stdout};
pub use stdin::{Stdin, stdin};
