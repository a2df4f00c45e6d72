//! Blocking clients, a thread each, that do the same thing again and again.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Instant;

use super::meter::{Meter, switches_of};
use super::outcome::Outcome;
use super::{Ask, PATIENCE};
use crate::support::Histogram;

/// One client: called again and again.
type Client = Box<dyn FnMut() -> io::Result<()> + Send>;

/// Makes the client of a number.
type Start = fn(&Ask, usize) -> io::Result<Client>;

const WARM_UP: u8 = 0;
const WINDOW: u8 = 1;
const OVER: u8 = 2;

pub(super) fn run(asked: &Ask, start: Start) -> io::Result<()> {
    let Ask { server, connections, warm_up, time, .. } = *asked;
    let clients: Vec<Client> =
        (0..connections).map(|number| start(asked, number)).collect::<io::Result<_>>()?;
    super::wait_for_go()?;
    let phase = AtomicU8::new(WARM_UP);
    thread::scope(|scope| {
        let threads: Vec<_> =
            clients.into_iter().map(|client| scope.spawn(|| repeat(client, &phase))).collect();
        thread::sleep(warm_up);
        let switches = switches_of(server);
        let before = Meter::now(server)?;
        phase.store(WINDOW, Ordering::Relaxed);
        thread::sleep(time);
        phase.store(OVER, Ordering::Relaxed);
        let after = Meter::now(server)?;
        let switches = switches_of(server).saturating_sub(switches) as f64;
        let mut latencies = Histogram::new();
        let mut fewest = f64::INFINITY;
        for thread in threads {
            let seen = thread.join().map_err(|_| io::Error::other("a client panicked"))??;
            fewest = fewest.min(seen.count() as f64);
            latencies.merge(&seen);
        }
        let outcome = Outcome {
            seconds: after.seconds_since(&before),
            server_cpu_ns: after.server_cpu_ns_since(&before),
            load_cpu_ns: after.load_cpu_ns_since(&before),
            switches,
            messages_meanwhile: latencies.count() as f64,
            connections,
            fewest,
            oldest_ns: 0.0,
            latencies,
        };
        println!("{}", outcome.to_line());
        Ok(())
    })
}

fn repeat(mut client: Client, phase: &AtomicU8) -> io::Result<Histogram> {
    let mut latencies = Histogram::new();
    loop {
        let began = Instant::now();
        client()?;
        match phase.load(Ordering::Relaxed) {
            WINDOW => latencies.record(began.elapsed().as_nanos() as u64),
            OVER => return Ok(latencies),
            _ => {}
        }
    }
}

/// Connects, has a message echoed, and closes.
pub(super) fn churn(asked: &Ask, number: usize) -> io::Result<Client> {
    let (address, message) = (asked.address, asked.service.request(number));
    let mut answer = vec![0; message.len()];
    let mut client = move || exchange(&mut connect(address)?, &message, &mut answer);
    // Then the server is there.
    client()?;
    Ok(Box::new(client))
}

/// What goes there and back at once.
const BULK: usize = 64 * 1024;

/// Has [`BULK`] bytes echoed on a connection. They fit into the buffers of the sockets, so that the server
/// can begin to answer before all are sent.
pub(super) fn bulk(asked: &Ask, number: usize) -> io::Result<Client> {
    let mut stream = connect(asked.address)?;
    let bytes: Vec<u8> = (0..BULK).map(|place| (place ^ number) as u8).collect();
    let mut answer = vec![0; BULK];
    let mut client = move || exchange(&mut stream, &bytes, &mut answer);
    client()?;
    Ok(Box::new(client))
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn exchange(stream: &mut TcpStream, message: &[u8], answer: &mut [u8]) -> io::Result<()> {
    stream.write_all(message)?;
    stream.read_exact(answer)?;
    if answer == message { Ok(()) } else { Err(io::Error::other("an answer is not what was sent")) }
}
