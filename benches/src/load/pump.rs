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
use super::meter::{Meter, switches_of};
use super::outcome::Outcome;
use super::{Ask, PATIENCE};
use crate::support::{Histogram, sys};

/// No window needs more, however long it was asked to be.
const MOST_MESSAGES: u64 = 100_000_000;

/// Events taken at once.
const BATCH: usize = 256;

/// Drives the load and prints one line of figures.
pub(super) fn run(asked: &Ask) -> io::Result<()> {
    let Ask { server, address, service, connections, warm_up, time, .. } = *asked;
    let epoll = sys::Epoll::new()?;
    let mut all = Vec::with_capacity(connections);
    for number in 0..connections {
        let connection = Connection::open(address, service, number)?;
        epoll.add(&connection.stream, number as u64)?;
        all.push(connection);
    }
    super::wait_for_go()?;
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
    let outcome = Outcome {
        seconds: after.seconds_since(&before),
        server_cpu_ns: after.server_cpu_ns_since(&before),
        load_cpu_ns: after.load_cpu_ns_since(&before),
        switches,
        messages_meanwhile: (warm.count() + latencies.count()) as f64,
        connections,
        fewest: pump.all.iter().map(|connection| connection.answers).min().unwrap_or(0) as f64,
        oldest_ns: pump.oldest_ns() as f64,
        latencies,
    };
    println!("{}", outcome.to_line());
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
