//! Every threshold and limit of the reports of what is stuck. Those of taking another thread's stack are in
//! `sys/linux/policy.rs`, because they are for one system only.
//!
//! Each says what it trades, where its value comes from, and what reads it. *Chosen* means that no measurement asks for
//! a different value.

use std::time::Duration;

/// The default of `report_long_polls`: only builds for development report. Shorter reports polls that are merely long,
/// in builds without optimisation. Chosen. Read by the builder.
pub(crate) const REPORT_AFTER: Option<Duration> =
    if cfg!(debug_assertions) { Some(Duration::from_millis(100)) } else { None };

/// The shortest `report_long_polls`. With a shorter one, the monitor would look all the time. Chosen. Read by `check`.
pub(super) const SHORTEST_REPORT_AFTER: Duration = Duration::from_millis(1);

/// The number of looks of the monitor in a `report_long_polls`. More reports a stuck poll sooner after that time; fewer
/// wakes the poller's thread less often. Chosen. Read by `LongPollWatch`.
pub(super) const LOOKS_PER_REPORT: u32 = 4;

/// The time between two reports about the same thing, where they go to `tracing` or standard error. Longer says less;
/// shorter fills logs. Chosen. Read by `Limit`.
pub(super) const REPORT_EVERY: Duration = Duration::from_secs(1);

/// The number of things for which the time of the last report is remembered. With more, all are forgotten. Chosen. Read
/// by `Limit`.
pub(super) const REMEMBERED_REPORTS: usize = 1024;

/// The number of suspects that wait to be reported, more than most programs have workers. Further ones are counted, and
/// dropped. Chosen. Read by `Reports`.
pub(super) const QUEUED_REPORTS: usize = 256;

/// The number of reports that `Handle::long_polls` returns. Chosen. Read by `Reports`.
pub(super) const RECENT_REPORTS: usize = 64;
