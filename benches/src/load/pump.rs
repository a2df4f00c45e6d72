//! Requests on many connections from one thread and a raw epoll: as soon as an answer is complete,
//! the next request goes out on the same connection.
//!
//! A latency runs from just before a message is written to just after its answer is read, so it
//! holds the time for which an answer waited until this thread came to it; the same for every
//! server. The loop is closed: a server that stalls is sent less, and its percentiles understate
//! what clients that do not wait for it would see.

use std::io;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::{Ask, PATIENCE};
use crate::measure::Metrics;
use crate::support::{Histogram, sys};
use crate::usage::{OtherThreads, Usage};

/// No window needs more, however long it was asked to be.
const MOST_MESSAGES: u64 = 100_000_000;

/// Events taken at once.
const BATCH: usize = 256;

/// Drives the load and prints one line of figures.
pub(super) fn run(asked: &Ask) -> io::Result<()> {
    let Ask { server, address, service, connections, warm_up, time } = *asked;
    let epoll = sys::Epoll::new()?;
    let mut all = Vec::with_capacity(connections);
    for number in 0..connections {
        let connection = Connection::open(address, service, number)?;
        epoll.add(&connection.stream, number as u64)?;
        all.push(connection);
    }
    let clock = Instant::now();
    let mut pump = Pump { epoll, all, events: sys::Events::with_capacity(BATCH), clock };
    pump.start()?;
    pump.until(warm_up.mul_f64(0.75), &mut Histogram::new())?;
    // Reading these takes long enough to be seen in the latencies, so not at the window's edge.
    let switches = switches_of(server);
    let mut warm = Histogram::new();
    pump.until(warm_up, &mut warm)?;

    for connection in &mut pump.all {
        connection.answers = 0;
    }
    let mut latencies = Histogram::new();
    let before = Meter::now(server)?;
    pump.until(before.at.duration_since(clock) + time, &mut latencies)?;
    let after = Meter::now(server)?;
    let switches = switches_of(server).saturating_sub(switches) as f64;
    let switches = switches / (warm.count() + latencies.count()) as f64;
    let figures = figures(&before, &after, &latencies, &pump);
    println!("{}", figures.with("switches_per_message", switches).to_json());
    Ok(())
}

/// All connections, and what has happened on them.
struct Pump {
    epoll: sys::Epoll,
    all: Vec<Connection>,
    events: sys::Events,
    clock: Instant,
}

impl Pump {
    fn now_ns(&self) -> u64 {
        self.clock.elapsed().as_nanos() as u64
    }

    fn start(&mut self) -> io::Result<()> {
        for place in 0..self.all.len() {
            let now = self.now_ns();
            self.all[place].send(now)?;
        }
        Ok(())
    }

    /// Answers every answer until the clock shows `end`.
    fn until(&mut self, end: Duration, latencies: &mut Histogram) -> io::Result<()> {
        let end_ns = end.as_nanos() as u64;
        loop {
            self.epoll.wait(&mut self.events, Some(PATIENCE))?;
            let mut tokens = self.events.tokens().peekable();
            if tokens.peek().is_none() {
                return Err(io::Error::other("the server has fallen silent"));
            }
            let mut now = 0;
            for token in tokens {
                let connection = &mut self.all[token as usize];
                if connection.receive()? {
                    now = self.clock.elapsed().as_nanos() as u64;
                    latencies.record(now.saturating_sub(connection.sent_ns));
                    connection.answers += 1;
                    connection.send(now)?;
                }
            }
            if now >= end_ns || latencies.count() >= MOST_MESSAGES {
                return Ok(());
            }
        }
    }

    /// How long the message that has waited longest for its answer has waited.
    fn oldest_ns(&self) -> u64 {
        let now = self.now_ns();
        let waits = self.all.iter().map(|connection| now.saturating_sub(connection.sent_ns));
        waits.max().unwrap_or(0)
    }
}

/// Context switches of all threads of the server so far.
fn switches_of(server: u32) -> u64 {
    let threads = OtherThreads::of_process(server);
    threads.voluntary_switches + threads.involuntary_switches
}

/// What the server and this process have used up to an edge of the window. The CPU time of the
/// server is read here and not by the server, which would have to be told of the edge first.
struct Meter {
    at: Instant,
    server: Duration,
    load: Duration,
}

impl Meter {
    fn now(server: u32) -> io::Result<Meter> {
        let load = Usage::now().cpu();
        Ok(Meter { at: Instant::now(), server: sys::process_cpu(server)?, load })
    }
}

fn figures(before: &Meter, after: &Meter, latencies: &Histogram, pump: &Pump) -> Metrics {
    let messages = latencies.count() as f64;
    let per_message = |total: f64| total / messages;
    let window = after.at.duration_since(before.at);
    let cpu = |after: Duration, before: Duration| after.saturating_sub(before).as_nanos() as f64;
    let fewest = pump.all.iter().map(|connection| connection.answers).min().unwrap_or(0);
    let mean = messages / pump.all.len() as f64;
    Metrics::new()
        .with("messages_per_s", messages / window.as_secs_f64())
        .with("p10_ns", latencies.quantile(0.10))
        .with("p50_ns", latencies.quantile(0.50))
        .with("p90_ns", latencies.quantile(0.90))
        .with("p99_ns", latencies.quantile(0.99))
        .with("p999_ns", latencies.quantile(0.999))
        // A message that was never answered is in no bucket, but it has waited.
        .with("max_ns", latencies.max().max(pump.oldest_ns()) as f64)
        .with("samples", messages)
        .with("cpu_ns_per_message", per_message(cpu(after.server, before.server)))
        .with("load_cpu_ns_per_message", per_message(cpu(after.load, before.load)))
        // 1 when all connections were served alike, 0 when one was not served at all.
        .with("fewest_by_mean", fewest as f64 / mean)
}
