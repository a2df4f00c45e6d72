//! What a drain came to.

use std::fmt;
use std::time::Duration;

use windlass_runtime::Straggler;

/// Tells how a [`Drain`](crate::Drain) ended.
#[derive(Clone, Debug)]
pub struct DrainReport {
    pub(crate) accepted: u64,
    pub(crate) panicked: u64,
    pub(crate) elapsed: Duration,
    pub(crate) aborted: Vec<Straggler>,
}

impl DrainReport {
    /// The number of connections that were accepted, from the start of the server on.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// The number of connections that ended in a panic.
    pub fn panicked(&self) -> u64 {
        self.panicked
    }

    /// How long it took from the beginning of the drain to its end.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// The connections that did not end in time, and were aborted.
    pub fn aborted(&self) -> &[Straggler] {
        &self.aborted
    }

    /// True if all connections ended by themselves.
    pub fn is_clean(&self) -> bool {
        self.aborted.is_empty()
    }
}

impl fmt::Display for DrainReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} connections in all", self.accepted)?;
        if self.panicked > 0 {
            write!(f, ", {} of them panicked", self.panicked)?;
        }
        if self.is_clean() {
            return write!(f, "; the last ended within {:?}", self.elapsed);
        }
        write!(f, "; {} aborted after {:?}: ", self.aborted.len(), self.elapsed)?;
        for (index, straggler) in self.aborted.iter().enumerate() {
            write!(f, "{}{straggler}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
