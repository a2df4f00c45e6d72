//! The settings of what is observed.

use crate::builder::Builder;

impl Builder {
    /// Sets whether the runtime counts what [`Handle::metrics`](crate::Handle::metrics) and
    /// [`Handle::tasks`](crate::Handle::tasks) tell beyond plain counters: histograms, spawn sites, the workers' time,
    /// polls and waits of tasks. It is on by default and costs a nanosecond or two for each poll.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().observe(false).build()?;
    /// runtime.block_on(async { windlass::spawn(async {}).await.unwrap() });
    /// assert_eq!(runtime.metrics().poll_time.count(), 0);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn observe(mut self, on: bool) -> Self {
        self.observe = on;
        self
    }

    /// Sets whether the flight recorder also records the beginning and the end of each poll, and each wake-up, with the
    /// task concerned. It is off by default, because it reads the clock at each of them.
    ///
    /// Without it, [`Handle::flight_record`](crate::Handle::flight_record) still tells when a worker slept, stole, took
    /// events and fired timers, which polls were long, and how many short ones came between.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = windlass::Builder::new().flight_recorder(true).build()?;
    /// runtime.block_on(async { windlass::spawn(async {}).await.unwrap() });
    /// let mut trace = Vec::new();
    /// runtime.handle().flight_record(&mut trace)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn flight_recorder(mut self, on: bool) -> Self {
        self.flight_recorder = on;
        self
    }
}
