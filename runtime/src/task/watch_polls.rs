//! The switch that has the end of every poll reported to its scheduler.

use crate::primitives::plain::{AtomicUsize, Ordering};

/// The number of monitors that see a worker stuck in a poll. While there are any, the ends of all polls are reported to
/// their schedulers.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// Has the end of each poll reported to its scheduler for as long as it lives.
pub(crate) struct WatchPolls(());

impl WatchPolls {
    pub(crate) fn begin() -> Self {
        WATCHERS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// Returns true while there is one.
    #[inline]
    pub(super) fn is_on() -> bool {
        WATCHERS.load(Ordering::Relaxed) > 0
    }
}

impl Drop for WatchPolls {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Ordering::Relaxed);
    }
}
