//! Messages at a fixed rate from one thread, whether the last are answered or not.
//!
//! Message `i` is due at `i` ÷ rate, on connection `i` modulo the connections. A latency runs from the time at
//! which a message was due, not from when it was sent: if this thread or the server is late, all that were
//! due meanwhile have waited. So many messages may be in flight on a connection that nothing is held back
//! unless the server has stalled; what is held back keeps its due time.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::meter::{Meter, switches_of};
use super::outcome::Outcome;
use super::{Ask, PATIENCE};
use crate::support::{Histogram, sys};

/// Messages in flight on a connection. They fit into its socket buffers in any case.
const IN_FLIGHT: usize = 256;

/// Events taken at once.
const BATCH: usize = 256;

pub(super) fn run(asked: &Ask, per_second: u64) -> io::Result<()> {
    let Ask { server, address, service, connections, warm_up, time, .. } = *asked;
    sys::sharpen_timers()?;
    let epoll = sys::Epoll::new()?;
    let mut all = Vec::with_capacity(connections);
    for number in 0..connections {
        let stream = Connection::open(address, service, number)?.stream;
        epoll.add(&stream, number as u64)?;
        all.push(Line::new(stream, service.request(number)));
    }
    super::wait_for_go()?;
    let clock = Instant::now();
    let interval_ns = 1e9 / per_second as f64;
    let events = sys::Events::with_capacity(BATCH);
    let mut open = Open { epoll, all, events, clock, interval_ns, next: 0, answered_ns: 0 };
    open.until(warm_up.mul_f64(0.75), &mut Histogram::new())?;
    let switches = switches_of(server);
    let mut warm = Histogram::new();
    open.until(warm_up, &mut warm)?;

    open.all.iter_mut().for_each(|line| line.answers = 0);
    let mut latencies = Histogram::new();
    let before = Meter::now(server)?;
    open.until(before.at.duration_since(clock) + time, &mut latencies)?;
    let after = Meter::now(server)?;
    let switches = switches_of(server).saturating_sub(switches) as f64;
    let outcome = Outcome {
        seconds: after.seconds_since(&before),
        server_cpu_ns: after.server_cpu_ns_since(&before),
        load_cpu_ns: after.load_cpu_ns_since(&before),
        switches,
        messages_meanwhile: (warm.count() + latencies.count()) as f64,
        connections,
        fewest: open.all.iter().map(|line| line.answers).min().unwrap_or(0) as f64,
        oldest_ns: open.oldest_ns() as f64,
        latencies,
    };
    println!("{}", outcome.to_line());
    Ok(())
}

/// All connections, and what is due on them.
struct Open {
    epoll: sys::Epoll,
    all: Vec<Line>,
    events: sys::Events,
    clock: Instant,
    interval_ns: f64,
    /// The number of the next message.
    next: u64,
    /// When the last answer came.
    answered_ns: u64,
}

impl Open {
    fn now_ns(&self) -> u64 {
        self.clock.elapsed().as_nanos() as u64
    }

    fn due_ns(&self, message: u64) -> u64 {
        (message as f64 * self.interval_ns) as u64
    }

    /// Sends what is due and takes answers until the clock shows `end`.
    fn until(&mut self, end: Duration, latencies: &mut Histogram) -> io::Result<()> {
        let end_ns = end.as_nanos() as u64;
        loop {
            let now = self.now_ns();
            if now >= end_ns {
                return Ok(());
            }
            self.send_due(now)?;
            let wait_ns = self.due_ns(self.next).min(end_ns).saturating_sub(self.now_ns());
            self.epoll.wait_for(&mut self.events, Duration::from_nanos(wait_ns))?;
            for token in self.events.tokens() {
                let line = &mut self.all[token as usize];
                let answers = line.receive()?;
                let now = self.clock.elapsed().as_nanos() as u64;
                for due_ns in answers {
                    latencies.record(now.saturating_sub(due_ns));
                }
                line.send()?;
                self.answered_ns = now;
            }
            let silent = Duration::from_nanos(self.now_ns().saturating_sub(self.answered_ns));
            if silent > PATIENCE && self.all.iter().any(|line| !line.in_flight.is_empty()) {
                return Err(io::Error::other("the server has fallen silent"));
            }
        }
    }

    fn send_due(&mut self, now_ns: u64) -> io::Result<()> {
        while self.due_ns(self.next) <= now_ns {
            let place = self.next as usize % self.all.len();
            let due_ns = self.due_ns(self.next);
            self.next += 1;
            self.all[place].held_back.push_back(due_ns);
            self.all[place].send()?;
        }
        Ok(())
    }

    /// How long the message that has waited longest has waited.
    fn oldest_ns(&self) -> u64 {
        let now = self.now_ns();
        let firsts = self.all.iter().filter_map(|line| line.in_flight.front());
        firsts.map(|due_ns| now.saturating_sub(*due_ns)).max().unwrap_or(0)
    }
}

/// A connection with any number of messages in flight.
struct Line {
    stream: TcpStream,
    message: Vec<u8>,
    /// When they were due.
    in_flight: VecDeque<u64>,
    held_back: VecDeque<u64>,
    /// Bytes of an answer that is not complete.
    got: usize,
    answers: u64,
}

impl Line {
    fn new(stream: TcpStream, message: Vec<u8>) -> Line {
        let (in_flight, held_back) = (VecDeque::new(), VecDeque::new());
        Line { stream, message, in_flight, held_back, got: 0, answers: 0 }
    }

    fn send(&mut self) -> io::Result<()> {
        while self.in_flight.len() < IN_FLIGHT {
            let Some(due_ns) = self.held_back.pop_front() else { break };
            self.stream.write_all(&self.message)?;
            self.in_flight.push_back(due_ns);
        }
        Ok(())
    }

    /// When the messages were due that are answered by what has come.
    fn receive(&mut self) -> io::Result<impl Iterator<Item = u64>> {
        let mut buffer = [0; 4096];
        let count = match self.stream.read(&mut buffer) {
            Ok(0) => return Err(io::Error::other("the server has closed a connection")),
            Ok(count) => count,
            Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
            Err(why) => return Err(why),
        };
        let length = self.message.len();
        for (place, byte) in buffer[..count].iter().enumerate() {
            if *byte != self.message[(self.got + place) % length] {
                return Err(io::Error::other("an answer is not what it has to be"));
            }
        }
        let whole = (self.got + count) / length;
        self.got = (self.got + count) % length;
        if whole > self.in_flight.len() {
            return Err(io::Error::other("more answers than messages"));
        }
        self.answers += whole as u64;
        Ok(self.in_flight.drain(..whole).collect::<Vec<_>>().into_iter())
    }
}
