//! Metrics of a spawn site, and of the time that woken tasks wait.

use std::panic::Location;
use std::time::Duration;

use super::Histogram;

/// The metrics of the tasks of one spawn site.
///
/// A spawn site is the place in the source at which tasks are spawned, or that place and the name that the tasks were
/// given. A place has at most 64 names, because a name may be different for each task. Tasks with further names count
/// only for the place.
///
/// # Examples
///
/// ```
/// let runtime = windlass::Runtime::new()?;
/// runtime.block_on(async {
///     for _ in 0..10 {
///         windlass::task::Builder::new().name("adder").spawn(async { 1 + 1 }).await.unwrap();
///     }
/// });
/// let sites = runtime.metrics().sites;
/// let site = sites.iter().find(|site| site.name.as_deref() == Some("adder")).unwrap();
/// assert_eq!((site.spawned, site.polls), (10, 10));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SiteMetrics {
    /// The place in the source.
    pub location: &'static Location<'static>,
    /// The name of the site's tasks.
    pub name: Option<String>,
    /// True for closures of [`compute`](crate::compute), whose one poll is the whole computation.
    pub computes: bool,
    /// Tasks spawned.
    pub spawned: u64,
    /// Tasks spawned and not yet finished.
    pub alive: u64,
    /// Polls of the site's tasks.
    pub polls: u64,
    /// The time that these polls have taken: measured for polls of more than some microseconds, and an estimate from
    /// samples for shorter ones.
    pub poll_time_total: Duration,
    /// The longest poll that was measured.
    pub poll_time_max: Duration,
    /// The times that polls have taken, for those that were measured. Empty for all but the first 256 sites of the
    /// process.
    pub poll_time: Histogram,
    /// The time for which tasks that were woken have waited for a worker, an estimate from samples.
    pub wait_total: Duration,
}

/// The times that woken tasks have waited for a worker, by the origin of the wake-up.
///
/// # Examples
///
/// ```
/// let latency = windlass::Runtime::new()?.metrics().wake_latency;
/// println!("99 % of events were handled within {:?}", latency.io.quantile(0.99));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct WakeLatency {
    /// Woken by an event of the OS.
    pub io: Histogram,
    /// Woken by a timer.
    pub timer: Histogram,
    /// Woken by another task.
    pub task: Histogram,
    /// Woken by a thread that is not a worker of this runtime.
    pub outside: Histogram,
}
