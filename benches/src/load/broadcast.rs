//! One message at a time, from one connection after the other, until all connections have got it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::meter::{Meter, switches_of};
use super::outcome::Outcome;
use super::{Ask, PATIENCE};
use crate::support::{Histogram, sys};

/// The byte that the server sends when a connection is one of those that get messages.
pub(crate) const GREETING: u8 = b'+';

/// Events taken at once.
const BATCH: usize = 256;

pub(super) fn run(asked: &Ask) -> io::Result<()> {
    let Ask { server, address, service, connections, warm_up, time, .. } = *asked;
    let epoll = sys::Epoll::new()?;
    let mut streams = Vec::with_capacity(connections);
    for number in 0..connections {
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut greeting = [0];
        stream.read_exact(&mut greeting)?;
        if greeting != [GREETING] {
            return Err(io::Error::other("the server does not greet"));
        }
        stream.set_nonblocking(true)?;
        epoll.add(&stream, number as u64)?;
        streams.push(stream);
    }
    super::wait_for_go()?;
    let message = service.request(0);
    let got = vec![0; connections];
    let events = sys::Events::with_capacity(BATCH);
    let mut room = Room { epoll, streams, got, message, events, next: 0 };
    let switches = switches_of(server);
    let mut warm = Histogram::new();
    room.lasting(warm_up, &mut warm)?;
    let mut latencies = Histogram::new();
    let before = Meter::now(server)?;
    room.lasting(time, &mut latencies)?;
    let after = Meter::now(server)?;
    let switches = switches_of(server).saturating_sub(switches) as f64;
    let outcome = Outcome {
        seconds: after.seconds_since(&before),
        server_cpu_ns: after.server_cpu_ns_since(&before),
        load_cpu_ns: after.load_cpu_ns_since(&before),
        switches,
        messages_meanwhile: (warm.count() + latencies.count()) as f64,
        connections,
        fewest: latencies.count() as f64 / connections as f64,
        oldest_ns: 0.0,
        latencies,
    };
    println!("{}", outcome.to_line());
    Ok(())
}

struct Room {
    epoll: sys::Epoll,
    streams: Vec<TcpStream>,
    /// Bytes of the message that each has got.
    got: Vec<usize>,
    message: Vec<u8>,
    events: sys::Events,
    next: usize,
}

impl Room {
    fn lasting(&mut self, time: Duration, latencies: &mut Histogram) -> io::Result<()> {
        let began = Instant::now();
        while began.elapsed() < time {
            let sent = Instant::now();
            self.broadcast()?;
            latencies.record(sent.elapsed().as_nanos() as u64);
        }
        Ok(())
    }

    fn broadcast(&mut self) -> io::Result<()> {
        // Each differs from the last.
        self.message[8] = self.message[8].wrapping_add(1);
        self.streams[self.next].write_all(&self.message)?;
        self.next = (self.next + 1) % self.streams.len();
        self.got.fill(0);
        let mut missing = self.streams.len();
        while missing > 0 {
            self.epoll.wait(&mut self.events, Some(PATIENCE))?;
            let mut tokens = self.events.tokens().peekable();
            if tokens.peek().is_none() {
                return Err(io::Error::other("the server has fallen silent"));
            }
            for token in tokens {
                let place = token as usize;
                let mut answer = [0; 256];
                let count = match self.streams[place].read(&mut answer) {
                    Ok(0) => return Err(io::Error::other("the server has closed a connection")),
                    Ok(count) => count,
                    Err(why) if why.kind() == ErrorKind::WouldBlock => continue,
                    Err(why) => return Err(why),
                };
                let got = self.got[place];
                if self.message.get(got..got + count) != Some(&answer[..count]) {
                    return Err(io::Error::other("a message is not what was sent"));
                }
                self.got[place] += count;
                missing -= usize::from(self.got[place] == self.message.len());
            }
        }
        Ok(())
    }
}
