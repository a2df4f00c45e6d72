//! An echo server, and a load generator to measure it.
//!
//! ```text
//! cargo run --release --example echo              serve on a free port until Ctrl-C
//! cargo run --release --example echo -- ADDRESS   serve there
//! cargo run --release --example echo -- --demo    serve, put load on it, print figures, exit
//! ```

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use windlass::net::{TcpListener, TcpStream};
use windlass::sync::CancellationToken;
use windlass::task::JoinSet;

/// The number of connections of the demo, and its duration.
const CONNECTIONS: usize = 16;
const DURATION: Duration = Duration::from_secs(2);
/// The content of each message.
const MESSAGE: [u8; 64] = [b'.'; 64];

#[windlass::main]
async fn main() -> io::Result<()> {
    let argument = std::env::args().nth(1);
    let demo = argument.as_deref() == Some("--demo");
    let address = match argument {
        Some(address) if !demo => address,
        _ => "127.0.0.1:0".to_owned(),
    };
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    println!("echo server listening on {address}");
    if !demo {
        return serve(listener).await;
    }
    let server = windlass::spawn(serve(listener));
    put_load_on(address).await?;
    server.abort();
    Ok(())
}

/// Accepts connections and spawns a task for each.
async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        match listener.accept().await {
            Ok((stream, _peer)) => drop(windlass::spawn(async move {
                // A peer that disconnects half-way is not an error of the server.
                let _ = echo(&stream).await;
            })),
            // Out of descriptors, most likely: let some connections end before the next try.
            Err(error) => {
                eprintln!("accept failed: {error}");
                windlass::timer::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Sends everything back, until the peer closes its side.
async fn echo(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 1024];
    loop {
        let count = stream.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..count]).await?;
    }
}

/// Keeps one message in flight on each connection, and prints rate and latencies.
async fn put_load_on(server: SocketAddr) -> io::Result<()> {
    let stop = CancellationToken::new();
    let mut clients = JoinSet::new();
    for _ in 0..CONNECTIONS {
        clients.spawn(client(server, stop.clone()));
    }
    let start = Instant::now();
    windlass::timer::sleep(DURATION).await;
    stop.cancel();
    let mut latencies = Vec::new();
    while let Some(result) = clients.join_next().await {
        latencies.extend(result??);
    }
    let seconds = start.elapsed().as_secs_f64();
    latencies.sort_unstable();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    println!("{CONNECTIONS} connections, {} messages of {} bytes", latencies.len(), MESSAGE.len());
    println!("{:.0} messages per second", latencies.len() as f64 / seconds);
    println!("latency p50 {:?}, p99 {:?}, p99.9 {:?}", at(0.5), at(0.99), at(0.999));
    Ok(())
}

/// Sends messages over one connection and waits for each to come back. Returns the time that each took.
async fn client(server: SocketAddr, stop: CancellationToken) -> io::Result<Vec<Duration>> {
    let stream = TcpStream::connect(server).await?;
    stream.set_nodelay(true)?;
    let mut latencies = Vec::new();
    let mut buffer = MESSAGE;
    while !stop.is_cancelled() {
        let start = Instant::now();
        stream.write_all(&MESSAGE).await?;
        stream.read_exact(&mut buffer).await?;
        latencies.push(start.elapsed());
    }
    Ok(latencies)
}
