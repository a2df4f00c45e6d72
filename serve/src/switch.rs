//! What tells a drain to begin.

use windlass_sync::CancellationToken;

/// Tells a [`Drain`](crate::Drain) to begin, and the second time to be done with it. Clones are the same switch.
///
/// # Examples
///
/// ```
/// use windlass::serve::Drain;
///
/// let drain = Drain::new();
/// let switch = drain.switch();
/// switch.flip();
/// assert!(drain.token().is_cancelled());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Switch {
    begin: CancellationToken,
    end: CancellationToken,
}

impl Switch {
    /// Begins the drain. If it has begun, ends it: what is still open is aborted at once.
    pub fn flip(&self) {
        if self.begin.is_cancelled() {
            self.end.cancel();
        } else {
            self.begin.cancel();
        }
    }

    /// Cancelled when the drain begins.
    pub(crate) fn begin(&self) -> &CancellationToken {
        &self.begin
    }

    /// Cancelled when it is to end at once.
    pub(crate) fn end(&self) -> &CancellationToken {
        &self.end
    }
}
