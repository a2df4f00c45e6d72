//! The settings for observing a runtime.

use std::ffi::OsStr;
use std::io;

use crate::builder::Builder;
use crate::builder_check;

impl Builder {
    /// Sets whether the runtime counts what [`Handle::metrics`](crate::Handle::metrics) and
    /// [`Handle::tasks`](crate::Handle::tasks) return beyond plain counters: histograms, spawn sites, the workers'
    /// time, polls and waits of tasks. It is on by default and costs a nanosecond or two for each poll.
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
    /// Without it, [`Handle::flight_record`](crate::Handle::flight_record) still shows when a worker slept, stole, took
    /// events and fired timers, which polls were long, and how many short ones came between.
    ///
    /// The environment variable `WINDLASS_FLIGHT_RECORDER`, `on` or `off`, overrides the setting, and
    /// [`Handle::set_flight_recorder`](crate::Handle::set_flight_recorder) changes it while the runtime runs.
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

/// Returns whether each poll is recorded: as the environment says, or else as the builder does.
pub(crate) fn check_recorder(builder: bool) -> io::Result<bool> {
    match std::env::var_os("WINDLASS_FLIGHT_RECORDER") {
        Some(value) => parse(&value),
        None => Ok(builder),
    }
}

fn parse(value: &OsStr) -> io::Result<bool> {
    let text = value.to_str().unwrap_or_default().trim();
    builder_check::check(
        ["on", "off"].contains(&text),
        format_args!(
            "the environment variable WINDLASS_FLIGHT_RECORDER is {value:?}: give \"on\" to record each poll and each \
             wake-up, or \"off\""
        ),
    )?;
    Ok(text == "on")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_environment_says_on_or_off_and_nothing_else() {
        assert!(parse(OsStr::new(" on ")).unwrap());
        assert!(!parse(OsStr::new("off")).unwrap());
        for bad in ["", "1", "true", "full"] {
            let message = parse(OsStr::new(bad)).unwrap_err().to_string();
            assert!(message.contains("WINDLASS_FLIGHT_RECORDER"), "{message}");
        }
    }
}
