//! Metrics as text, in the format that Prometheus and others collect.
//!
//! Histograms are written with few buckets, each four times as wide as the one before, because a collector stores every
//! bucket as a time series.

use std::fmt::{self, Display, Write};
use std::time::Duration;

use super::{CountHistogram, Histogram};
use crate::metrics::{Metrics, WorkerMetrics};

/// Bounds of the buckets of times: 256 ns, 1 µs and so on to 17 s.
const TIME_BOUNDS: std::ops::RangeInclusive<u32> = 4..=17;
/// Bounds of the buckets of numbers: 0, 3, 15 and so on, one less than a power of four each.
const COUNT_BOUNDS: std::ops::RangeInclusive<u32> = 0..=11;

impl Metrics {
    /// Writes the metrics in the [OpenMetrics](https://openmetrics.io) text format, which Prometheus collects.
    ///
    /// Names begin with `windlass_`, times are in seconds, and the text ends with `# EOF`. Serve it as
    /// `application/openmetrics-text; version=1.0.0; charset=utf-8`.
    ///
    /// # Examples
    ///
    /// ```
    /// let text = windlass::Runtime::new()?.metrics().to_openmetrics();
    /// assert!(text.contains("windlass_tasks_spawned_total 0\n"));
    /// assert!(text.ends_with("# EOF\n"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn to_openmetrics(&self) -> String {
        let mut text = Text::default();
        self.write_tasks(&mut text);
        self.write_queues(&mut text);
        self.write_workers(&mut text);
        self.write_histograms(&mut text);
        self.write_sites(&mut text);
        text.0.push_str("# EOF\n");
        text.0
    }

    fn write_tasks(&self, text: &mut Text) {
        text.counter("tasks_spawned", "Tasks spawned", self.tasks_spawned);
        text.counter("tasks_finished", "Tasks that have ended", self.tasks_finished);
        text.counter("tasks_panicked", "Tasks that have panicked", self.tasks_panicked);
        text.gauge("tasks_alive", "Tasks spawned and not finished", self.tasks_alive);
        text.counter(
            "task_allocations",
            "Allocations of tasks and closures",
            self.task_allocations,
        );
    }

    fn write_queues(&self, text: &mut Text) {
        text.gauge("injector_tasks", "Tasks in the injector", self.injector_len);
        text.gauge("lane_tasks", "Tasks in the lane of the poller", self.lane_len);
        text.gauge("compute_queued", "Computations that have not begun", self.compute_queued);
        text.gauge("blocking_threads", "Threads of the blocking pool", self.blocking_threads);
        text.gauge("blocking_idle_threads", "Those that wait for a closure", self.blocking_idle);
        text.gauge("blocking_queued", "Closures that wait for a thread", self.blocking_queued);
        text.gauge("timers", "Armed timers", self.timers);
        text.counter("timer_wakeups", "Wake-ups for a timer that was armed", self.timer_wakeups);
        text.gauge("registered_fds", "Descriptors registered with the poller", self.fds);
        text.gauge("spares_active", "Spare workers at work", self.spares_active);
    }

    fn write_workers(&self, text: &mut Text) {
        let mut family = |name, kind, help, value: fn(&WorkerMetrics) -> u64| {
            text.family(name, kind, help);
            let suffix = if kind == COUNTER { "_total" } else { "" };
            for (index, worker) in self.all_workers() {
                text.sample(name, suffix, &[("worker", &index)], value(worker));
            }
        };
        family("worker_polls", COUNTER, "Polls of tasks", |worker| worker.polls);
        family("worker_steals", COUNTER, "Times the worker has stolen", |worker| worker.steals);
        family("worker_parks", COUNTER, "Times the worker has gone to sleep", |worker| {
            worker.parks
        });
        family("worker_wakeups", COUNTER, "Times it has been woken", |worker| worker.wakeups);
        family("worker_queue_tasks", GAUGE, "Tasks in the worker's queue", |worker| {
            worker.queue_len as u64
        });
        text.family("worker_time_seconds", COUNTER, "Time by what the worker did: busy with tasks and computations; os, at the OS between them; idle, asleep or looking for work");
        for (index, worker) in self.all_workers() {
            for (what, time) in [("busy", worker.busy), ("idle", worker.idle), ("os", worker.os)] {
                let labels: [Label<'_>; 2] = [("worker", &index), ("state", &what)];
                text.sample("worker_time_seconds", "_total", &labels, time.as_secs_f64());
            }
        }
    }

    /// Returns the workers, with the index that [`worker_index`](crate::worker_index) returns there, and then the
    /// spares.
    fn all_workers(&self) -> impl Iterator<Item = (usize, &WorkerMetrics)> {
        self.workers.iter().chain(&self.spares).enumerate()
    }

    fn write_histograms(&self, text: &mut Text) {
        text.family("poll_time_seconds", HISTOGRAM, "Time of a poll");
        text.times("poll_time_seconds", &[], &self.poll_time);
        text.family("wake_latency_seconds", HISTOGRAM, "Time from a wake-up to the poll");
        let latency = &self.wake_latency;
        let origins = [
            ("io", &latency.io),
            ("timer", &latency.timer),
            ("task", &latency.task),
            ("outside", &latency.outside),
        ];
        for (origin, histogram) in origins {
            text.times("wake_latency_seconds", &[("origin", &origin)], histogram);
        }
        text.family("timer_lateness_seconds", HISTOGRAM, "Time from a deadline to its firing");
        text.times("timer_lateness_seconds", &[], &self.timer_lateness);
        text.family("blocking_wait_seconds", HISTOGRAM, "Time that a closure waits for a thread");
        text.times("blocking_wait_seconds", &[], &self.blocking_wait);
        text.family("fork_join_time_seconds", HISTOGRAM, "Time of a computation");
        text.times("fork_join_time_seconds", &[], &self.fork_join_time);
        text.family("ready_tasks", HISTOGRAM, "Tasks in a worker's queue when it looked");
        text.counts("ready_tasks", &self.ready_tasks);
    }

    fn write_sites(&self, text: &mut Text) {
        let mut family = |name, kind, help, value: fn(&super::SiteMetrics) -> f64| {
            text.family(name, kind, help);
            let suffix = if kind == COUNTER { "_total" } else { "" };
            for site in &self.sites {
                let name_label = site.name.as_deref().unwrap_or_default();
                let labels: [Label<'_>; 2] = [("site", &site.location), ("name", &name_label)];
                text.sample(name, suffix, &labels, value(site));
            }
        };
        family("site_tasks_spawned", COUNTER, "Tasks spawned at a site", |site| {
            site.spawned as f64
        });
        family("site_tasks_alive", GAUGE, "Those that have not ended", |site| site.alive as f64);
        family("site_polls", COUNTER, "Polls of a site's tasks", |site| site.polls as f64);
        family("site_poll_time_seconds", COUNTER, "Time of these polls", |site| {
            site.poll_time_total.as_secs_f64()
        });
        family("site_longest_poll_seconds", GAUGE, "The longest poll that was measured", |site| {
            site.poll_time_max.as_secs_f64()
        });
        family("site_wait_seconds", COUNTER, "Time that woken tasks have waited", |site| {
            site.wait_total.as_secs_f64()
        });
    }
}

const COUNTER: &str = "counter";
const GAUGE: &str = "gauge";
const HISTOGRAM: &str = "histogram";

/// A label's name and its value, which may contain anything.
type Label<'a> = (&'static str, &'a dyn Display);

/// The text so far. Writing to a `String` does not fail.
#[derive(Default)]
struct Text(String);

impl Text {
    /// Begins a metric.
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# TYPE windlass_{name} {kind}");
        if name.ends_with("_seconds") {
            let _ = writeln!(self.0, "# UNIT windlass_{name} seconds");
        }
        let _ = writeln!(self.0, "# HELP windlass_{name} {help}.");
    }

    fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, COUNTER, help);
        self.sample(name, "_total", &[], value);
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, GAUGE, help);
        self.sample(name, "", &[], value);
    }

    fn sample(&mut self, name: &str, suffix: &str, labels: &[Label<'_>], value: impl Display) {
        let _ = write!(self.0, "windlass_{name}{suffix}");
        for (index, (label, value)) in labels.iter().enumerate() {
            self.0.push(if index == 0 { '{' } else { ',' });
            let _ = write!(self.0, "{label}=\"");
            let _ = write!(Escaped(&mut self.0), "{value}");
            self.0.push('"');
        }
        let _ = writeln!(self.0, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    fn times(&mut self, name: &str, labels: &[Label<'_>], histogram: &Histogram) {
        let bounds = TIME_BOUNDS.map(|power| {
            let bound = Duration::from_nanos(1 << (2 * power));
            let below = histogram.buckets().take_while(|(most, _)| *most < bound);
            (bound.as_secs_f64(), below.map(|(_, count)| count).sum())
        });
        self.buckets(name, labels, bounds, histogram.count());
        self.sample(name, "_sum", labels, histogram.sum().as_secs_f64());
    }

    fn counts(&mut self, name: &str, histogram: &CountHistogram) {
        let bounds = COUNT_BOUNDS.map(|power| {
            let bound = 1 << (2 * power);
            let below = histogram.buckets().take_while(|(most, _)| *most < bound);
            // The bucket's own bound belongs to it, and is a whole number.
            ((bound - 1) as f64, below.map(|(_, count)| count).sum())
        });
        self.buckets(name, &[], bounds, histogram.count());
        self.sample(name, "_sum", &[], histogram.sum() as f64);
    }

    fn buckets(
        &mut self,
        name: &str,
        labels: &[Label<'_>],
        bounds: impl Iterator<Item = (f64, u64)>,
        count: u64,
    ) {
        let mut bucket = |bound: &dyn Display, value: u64| {
            let labels: Vec<_> = labels.iter().copied().chain([("le", bound)]).collect();
            self.sample(name, "_bucket", &labels, value);
        };
        for (bound, below) in bounds {
            bucket(&format_args!("{bound:?}"), below);
        }
        bucket(&"+Inf", count);
        self.sample(name, "_count", labels, count);
    }
}

/// Writes a label's value.
struct Escaped<'a>(&'a mut String);

impl fmt::Write for Escaped<'_> {
    fn write_str(&mut self, value: &str) -> fmt::Result {
        for character in value.chars() {
            match character {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                other => self.0.push(other),
            }
        }
        Ok(())
    }
}
