//! Every interval and limit of the observations. The sizes of rings and tables are in the files that have them.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Measured* means on two cores of a virtual
//! Xeon with Linux 6.18; *chosen* means that no measurement asks for a different value.

use std::time::Duration;

/// One wake-up in this many is stamped, by `WokenBy`. Fewer cost readings of the clock; more make the histograms coarser
/// for rare wake-ups. Measured: `docs/observability.md` has what observing costs. Read by `Observer` and by threads that
/// are not workers.
pub(super) const STAMP_EVERY: [u32; 4] = [16, 8, 128, 16];

/// The time that polls have to take before one of them is timed again. A poll that is timed costs two readings of the
/// clock, which are a quarter of a percent of this. Measured. Read by `Observer`.
pub(super) const TIME_EVERY: Duration = Duration::from_micros(20);

/// Woken tasks wait for less than this; a longer time is that of a stamp whose counter came around. Read by `Observer`.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(240);

/// A poll of this length is recorded by itself. Shorter fills the flight record sooner; longer hides polls in sums.
/// Chosen. Read by `Flight`.
pub(super) const RECORDED_POLL: Duration = Duration::from_micros(50);

/// Shorter polls are recorded together, for this long at least. Longer makes the record reach further back; shorter makes
/// it finer. Chosen. Read by `Flight`.
pub(super) const RECORDED_TOGETHER: Duration = Duration::from_millis(1);
