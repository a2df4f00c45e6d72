//! Looks inside a running runtime: histograms, spawn sites, a list of all tasks, and a record of what the workers did.
//!
//! All of it is always there, without a rebuild, and costs a few percent of the shortest tasks at most:
//! [`Handle::metrics`](crate::Handle::metrics) for numbers,
//! [`Metrics::to_openmetrics`](crate::Metrics::to_openmetrics) to export them, [`Handle::tasks`](crate::Handle::tasks)
//! for what each task does and waits for, and [`Handle::flight_record`](crate::Handle::flight_record) for the last
//! moments of each worker. [`Builder::observe`](crate::Builder::observe) switches it off.

// # Inside
//
// The scheduler calls this module in few places, one call each, and this module never calls back. A worker's counts are
// in two halves: the `Observer`, which only its thread touches, and the `Observed` in its slot, which others read. Both
// are written without read-modify-writes, and neither shares a cache line with another worker's.

mod arrows;
mod builder;
mod dump;
mod dump_settings;
mod event;
mod flight;
mod handle;
mod histogram;
mod hours;
mod listing;
mod listing_outside;
mod local;
mod nest;
mod observed;
mod observer;
mod openmetrics;
mod outside;
mod policy;
pub(crate) mod ring;
mod sampling;
mod site_counts;
mod site_metrics;
mod summary;
mod task_info;
mod trace;

pub use dump::{DumpCause, FlightDump};
pub use dump_settings::FlightDumps;
pub use histogram::{CountHistogram, Histogram};
pub use site_metrics::{SiteMetrics, WakeLatency};
pub use task_info::{TaskInfo, TaskKind, TaskState, WaitsFor};

pub use crate::poller::Direction;

pub(crate) use builder::check_recorder;
pub(crate) use dump::Dumper;
pub(crate) use histogram::Recorder;
pub(crate) use listing::note_waits;
pub(crate) use local::{LocalObserver, LocalPlaces};
pub(crate) use observed::{Observed, ObservedPlace};
pub(crate) use observer::Observer;
pub(crate) use summary::Summary;
