//! The clients of a server: one thread in a process of its own, the next message on a connection when the last has come
//! back.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

const CONNECTIONS: usize = 8;
const MESSAGE: [u8; 64] = [7; 64];

/// Lines of figures that it prints at the end.
pub(crate) const FIGURES: usize = 4;

/// A server that needs longer than this for an answer has lost it.
const PATIENCE: Duration = Duration::from_secs(5);

struct Connection {
    stream: TcpStream,
    sent: Instant,
    /// Bytes of the answer that have come.
    got: usize,
}

impl Connection {
    /// Takes what has come, and sends the next message when the answer is whole; says how long that took.
    fn advance(&mut self) -> io::Result<Option<Duration>> {
        let mut buffer = [0; MESSAGE.len()];
        while self.got < MESSAGE.len() {
            match self.stream.read(&mut buffer[self.got..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(len) => self.got += len,
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(why) => return Err(why),
            }
        }
        let took = self.sent.elapsed();
        self.send()?;
        Ok(Some(took))
    }

    fn send(&mut self) -> io::Result<()> {
        (self.got, self.sent) = (0, Instant::now());
        // One message is in flight, so there is room for it.
        self.stream.write_all(&MESSAGE)
    }
}

/// Asks the server at an address for some milliseconds, after a tenth of that to warm up.
pub(crate) fn run(address: &str, millis: &str) -> Result<(), String> {
    let address = address.parse().map_err(|_| format!("{address} is no address"))?;
    let millis = millis.parse().map_err(|_| format!("{millis} is no number of milliseconds"))?;
    ask(address, Duration::from_millis(millis)).map_err(|why| format!("load: {why}"))
}

fn ask(address: SocketAddr, time: Duration) -> io::Result<()> {
    let mut poll = Poll::new()?;
    let mut connections = Vec::new();
    for place in 0..CONNECTIONS {
        let stream = std::net::TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(place), Interest::READABLE)?;
        connections.push(Connection { stream, sent: Instant::now(), got: 0 });
    }
    connections.iter_mut().try_for_each(Connection::send)?;
    pump(&mut poll, &mut connections, time / 10)?;
    println!("begins");
    let began = Instant::now();
    let mut latencies = pump(&mut poll, &mut connections, time)?;
    let seconds = began.elapsed().as_secs_f64();
    latencies.sort_unstable();
    let micros = |share: f64| {
        let place = (latencies.len() - 1) as f64 * share;
        latencies[place as usize].as_secs_f64() * 1e6
    };
    println!("echo_rate {}", latencies.len() as f64 / seconds);
    println!("echo_p50 {}", micros(0.5));
    println!("echo_p99 {}", micros(0.99));
    println!("echo_p999 {}", micros(0.999));
    Ok(())
}

/// Keeps all connections busy for a time, and returns how long each message took.
fn pump(
    poll: &mut Poll,
    connections: &mut [Connection],
    time: Duration,
) -> io::Result<Vec<Duration>> {
    let mut events = Events::with_capacity(CONNECTIONS);
    let mut latencies = Vec::new();
    let end = Instant::now() + time;
    while Instant::now() < end || latencies.is_empty() {
        poll.poll(&mut events, Some(PATIENCE))?;
        if events.is_empty() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        for event in &events {
            // Until it would block: events come once for what has come.
            while let Some(took) = connections[event.token().0].advance()? {
                latencies.push(took);
            }
        }
    }
    Ok(latencies)
}
