//! The settings of reports.

use std::sync::Arc;
use std::time::Duration;

use super::LongPoll;
use crate::builder::Builder;

impl Builder {
    /// Sets how long a poll may take before it is reported. The report comes while the poll is still running, and names
    /// the task, its spawn site and the worker. On Linux with the feature `stack-traces` it has the worker's stack.
    ///
    /// Reports go to [`on_long_poll`](Self::on_long_poll) if that is set. Otherwise they go to `tracing` with the
    /// feature of that name, or else to standard error, at most once a second for each spawn site.
    /// [`Handle::long_polls`](crate::Handle::long_polls) returns the latest. [`LongPollKind`](crate::LongPollKind)
    /// lists what is reported in addition to polls.
    ///
    /// The default is 100 ms in builds with debug assertions, and no reports in others. `Duration::MAX` switches them
    /// off; times below 1 ms are an error of [`build`](Self::build). The environment variable `WINDLASS_LONG_POLLS`,
    /// for example `50ms`, `2s` or `off`, overrides both.
    ///
    /// A computation counts from one split point to the next, and time in
    /// [`block_in_place`](crate::task::block_in_place) does not count. Reporting costs nothing in a poll that is short,
    /// and an idle runtime does not wake up for it. A [manual loop](crate::manual) reports nothing but `block_on`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let runtime = windlass::Builder::new().report_long_polls(Duration::from_millis(50)).build()?;
    /// # drop(runtime);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn report_long_polls(mut self, after: Duration) -> Self {
        self.long_polls = Some(after);
        self
    }

    /// Calls `f` for each [long poll](Self::report_long_polls), instead of reporting it to `tracing` or standard error.
    ///
    /// The calls come one after the other, on a thread that does nothing else, so `f` may block and panic. While it
    /// blocks, up to 256 reports wait; the rest is dropped and [counted](crate::Handle::long_polls_dropped). A shutdown
    /// does not wait for `f`.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new()
    ///     .on_long_poll(|report| println!("{report}"))
    ///     .build()?;
    /// # drop(runtime);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn on_long_poll(mut self, f: impl Fn(&LongPoll) + Send + Sync + 'static) -> Self {
        self.hooks.long_poll = Some(Arc::new(f));
        self
    }
}
