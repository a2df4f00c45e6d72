//! An echo server beside a computation that saturates every core, on one pool: measures the latency of
//! the server without the computation and with it.
//!
//! ```sh
//! cargo run --release --example mixed
//! ```

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream as Blocking};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use windlass::net::{TcpListener, TcpStream};
use windlass::{Runtime, join};

const CLIENTS: usize = 4;
const WINDOW: Duration = Duration::from_secs(2);

fn main() -> io::Result<()> {
    let runtime = Runtime::new()?;
    let address = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        drop(windlass::spawn(serve(listener)));
        Ok::<_, io::Error>(address)
    })?;

    report("idle pool", measure(address)?);

    let stop = Arc::new(AtomicBool::new(false));
    let rounds = Arc::new(AtomicU64::new(0));
    let computing = {
        let (stop, rounds) = (stop.clone(), rounds.clone());
        let _entered = runtime.enter();
        windlass::compute(move || {
            while !stop.load(Ordering::Relaxed) {
                std::hint::black_box(fib(26));
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    report("beside fib(26)", measure(address)?);
    stop.store(true, Ordering::Relaxed);
    runtime.block_on(computing)?;
    println!("{} rounds of fib(26) meanwhile", rounds.load(Ordering::Relaxed));
    Ok(())
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        drop(windlass::spawn(echo(stream)));
    }
}

async fn echo(stream: TcpStream) -> io::Result<()> {
    let mut buffer = [0; 1024];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            count => stream.write_all(&buffer[..count]).await?,
        }
    }
}

/// Makes a join for each call, which is as fine-grained as it gets.
fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Returns the latencies that clients on threads of their own measure, sorted.
fn measure(address: SocketAddr) -> io::Result<Vec<Duration>> {
    let clients: Vec<_> = (0..CLIENTS).map(|_| thread::spawn(move || client(address))).collect();
    let mut latencies = Vec::new();
    for client in clients {
        latencies.extend(client.join().expect("a client does not panic")?);
    }
    latencies.sort_unstable();
    Ok(latencies)
}

fn client(address: SocketAddr) -> io::Result<Vec<Duration>> {
    let mut stream = Blocking::connect(address)?;
    stream.set_nodelay(true)?;
    let (message, mut answer) = ([7; 64], [0; 64]);
    let mut latencies = Vec::new();
    let start = Instant::now();
    while start.elapsed() < WINDOW {
        let sent = Instant::now();
        stream.write_all(&message)?;
        stream.read_exact(&mut answer)?;
        latencies.push(sent.elapsed());
    }
    Ok(latencies)
}

fn report(what: &str, latencies: Vec<Duration>) {
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    println!(
        "{what:<16} {:>7.0} messages/s   p50 {:>7.1?}   p99 {:>7.1?}   p99.9 {:>7.1?}   max {:>7.1?}",
        latencies.len() as f64 / WINDOW.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0),
    );
}
