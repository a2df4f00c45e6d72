//! What a load process has seen, on its way to the process that started it; and several of them as one.

use serde_json::{Value, json};

use crate::measure::Metrics;
use crate::support::Histogram;

/// What one load process saw in its window.
pub(crate) struct Outcome {
    pub(super) latencies: Histogram,
    pub(super) seconds: f64,
    /// CPU time of the server and of this load inside the window.
    pub(super) server_cpu_ns: f64,
    pub(super) load_cpu_ns: f64,
    /// Context switches of the server, and the messages meanwhile: a little more than the window.
    pub(super) switches: f64,
    pub(super) messages_meanwhile: f64,
    pub(super) connections: usize,
    /// Answers on the connection that got the fewest.
    pub(super) fewest: f64,
    /// How long the message that has waited longest at the end of the window has waited.
    pub(super) oldest_ns: f64,
}

impl Outcome {
    /// One line of text.
    pub(super) fn to_line(&self) -> String {
        let buckets: Vec<[u64; 2]> =
            self.latencies.filled().map(|(place, count)| [place, count]).collect();
        let line = json!({
            "buckets": buckets,
            "max_ns": self.latencies.max(),
            "seconds": self.seconds,
            "server_cpu_ns": self.server_cpu_ns,
            "load_cpu_ns": self.load_cpu_ns,
            "switches": self.switches,
            "messages_meanwhile": self.messages_meanwhile,
            "connections": self.connections,
            "fewest": self.fewest,
            "oldest_ns": self.oldest_ns,
        });
        line.to_string()
    }

    /// What `to_line` has made; `None` of anything else.
    pub(super) fn from_line(line: &str) -> Option<Outcome> {
        let line: Value = serde_json::from_str(line).ok()?;
        let mut latencies = Histogram::new();
        for bucket in line["buckets"].as_array()? {
            latencies.add(bucket[0].as_u64()?, bucket[1].as_u64()?)?;
        }
        latencies.raise_max(line["max_ns"].as_u64()?);
        let number = |name: &str| line[name].as_f64();
        Some(Outcome {
            latencies,
            seconds: number("seconds")?,
            server_cpu_ns: number("server_cpu_ns")?,
            load_cpu_ns: number("load_cpu_ns")?,
            switches: number("switches")?,
            messages_meanwhile: number("messages_meanwhile")?,
            connections: line["connections"].as_u64()? as usize,
            fewest: number("fewest")?,
            oldest_ns: number("oldest_ns")?,
        })
    }

    /// The figures of some load processes that worked on one server at the same time. Rates add up; what
    /// each has seen of the server is the same thing seen again, and their mean counts.
    pub(super) fn figures(all: &[Outcome]) -> Metrics {
        let sum = |of: fn(&Outcome) -> f64| all.iter().map(of).sum::<f64>();
        let mean = |of: fn(&Outcome) -> f64| sum(of) / all.len() as f64;
        let mut latencies = Histogram::new();
        for outcome in all {
            latencies.merge(&outcome.latencies);
        }
        let messages = latencies.count() as f64;
        let rate = sum(|outcome| outcome.latencies.count() as f64 / outcome.seconds);
        let server_cpu_ns_per_s = mean(|outcome| outcome.server_cpu_ns / outcome.seconds);
        let connections = sum(|outcome| outcome.connections as f64);
        let fewest = all.iter().map(|outcome| outcome.fewest).fold(f64::INFINITY, f64::min);
        // A message that was never answered is in no bucket, but it has waited.
        let longest = all.iter().map(|outcome| outcome.oldest_ns).fold(0.0, f64::max);
        Metrics::new()
            .with("messages_per_s", rate)
            .with("p10_ns", latencies.quantile(0.10))
            .with("p50_ns", latencies.quantile(0.50))
            .with("p90_ns", latencies.quantile(0.90))
            .with("p99_ns", latencies.quantile(0.99))
            .with("p999_ns", latencies.quantile(0.999))
            .with("max_ns", longest.max(latencies.max() as f64))
            .with("samples", messages)
            .with("cpu_ns_per_message", server_cpu_ns_per_s / rate)
            .with("server_cores", server_cpu_ns_per_s / 1e9)
            .with("load_cpu_ns_per_message", sum(|outcome| outcome.load_cpu_ns) / messages)
            .with(
                "switches_per_message",
                mean(|outcome| outcome.switches) / sum(|outcome| outcome.messages_meanwhile),
            )
            // 1 when all connections were served alike, 0 when one was not served at all.
            .with("fewest_by_mean", fewest * connections / messages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(latencies: &[u64], seconds: f64) -> Outcome {
        let mut histogram = Histogram::new();
        latencies.iter().for_each(|&latency| histogram.record(latency));
        Outcome {
            latencies: histogram,
            seconds,
            server_cpu_ns: 300.0 * seconds,
            load_cpu_ns: 40.0,
            switches: 12.0,
            messages_meanwhile: 3.0,
            connections: 1,
            fewest: latencies.len() as f64,
            oldest_ns: 7.0,
        }
    }

    fn figure(metrics: &Metrics, name: &str) -> f64 {
        metrics.iter().find(|(known, _)| *known == name).unwrap().1
    }

    #[test]
    fn an_outcome_survives_the_pipe() {
        let sent = outcome(&[5, 5, 9_000_000], 2.0);
        let got = Outcome::from_line(&sent.to_line()).unwrap();
        assert_eq!(got.to_line(), sent.to_line());
        assert_eq!(got.latencies.quantile(1.0), sent.latencies.quantile(1.0));
        assert!(Outcome::from_line("{}").is_none());
        assert!(Outcome::from_line("ready").is_none());
        let beyond = sent.to_line().replace("[5,2]", "[500000,2]");
        assert!(Outcome::from_line(&beyond).is_none());
    }

    #[test]
    fn rates_add_up_and_the_server_counts_once() {
        let both = Outcome::figures(&[outcome(&[10, 20, 30], 1.0), outcome(&[40], 2.0)]);
        assert_eq!(figure(&both, "messages_per_s"), 3.5);
        assert_eq!(figure(&both, "samples"), 4.0);
        assert_eq!(figure(&both, "p50_ns"), 20.0);
        assert_eq!(figure(&both, "max_ns"), 40.0);
        assert_eq!(figure(&both, "cpu_ns_per_message"), 300.0 / 3.5);
        assert_eq!(figure(&both, "load_cpu_ns_per_message"), 20.0);
        assert_eq!(figure(&both, "switches_per_message"), 2.0);
        assert_eq!(figure(&both, "fewest_by_mean"), 0.5);
    }
}
