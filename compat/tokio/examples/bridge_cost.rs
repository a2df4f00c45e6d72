//! Measures what is slower through the bridge than without it.
//!
//! ```text
//! cargo run --release -p windlass-tokio --example bridge_cost
//! ```
//!
//! Each line is the median of several rounds, all in one process and on a machine that should do nothing else.

use std::future::Future;
use std::hint::black_box;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use windlass::{Builder, Runtime};
use windlass_tokio::{BuilderExt, Io};

const ROUNDS: usize = 9;

fn main() -> std::io::Result<()> {
    let plain = Builder::new().build()?;
    let bridged = Builder::new().with_tokio().build()?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;

    let handle = tokio.handle();
    let entered = median(|| per(1_000_000, || drop(black_box(handle.enter()))));
    say("entering a tokio runtime and leaving it", entered);
    say("block_on, plain", median(|| per(100_000, || plain.block_on(async {}))));
    say("block_on, bridged", median(|| per(100_000, || bridged.block_on(async {}))));

    say("spawn and await, plain", on_ours(&plain, spawns));
    say("spawn and await, bridged and not used", on_ours(&bridged, spawns));
    say("tokio::spawn and await, bridged", on_ours(&bridged, tokio_spawns));
    let spawned = median(|| tokio.block_on(async { tokio::spawn(tokio_spawns()).await.unwrap() }));
    say("tokio::spawn and await, on tokio", spawned);

    let ours = || slept(|| windlass::timer::sleep(Duration::from_millis(1)));
    let theirs = || slept(|| tokio::time::sleep(Duration::from_millis(1)));
    say("our sleep(1 ms), plain", on_ours(&plain, ours));
    say("our sleep(1 ms), bridged", on_ours(&bridged, ours));
    say("tokio::time::sleep(1 ms), bridged", on_ours(&bridged, theirs));
    let slept = median(|| tokio.block_on(async { tokio::spawn(theirs()).await.unwrap() }));
    say("tokio::time::sleep(1 ms), on tokio", slept);

    say("64 bytes there and back, our sockets, plain", on_ours(&plain, our_echo));
    say("64 bytes there and back, our sockets, bridged", on_ours(&bridged, our_echo));
    say("64 bytes there and back, tokio's sockets, bridged", on_ours(&bridged, tokio_echo));
    let echoed = median(|| tokio.block_on(async { tokio::spawn(tokio_echo()).await.unwrap() }));
    say("64 bytes there and back, tokio's sockets, on tokio", echoed);
    Ok(())
}

fn say(what: &str, time: Duration) {
    println!("{what:<52} {time:>12.2?}");
}

fn median(mut round: impl FnMut() -> Duration) -> Duration {
    let mut rounds: Vec<_> = (0..ROUNDS).map(|_| round()).collect();
    rounds.sort();
    rounds[ROUNDS / 2]
}

/// The time of one call.
fn per(times: u32, mut f: impl FnMut()) -> Duration {
    let start = Instant::now();
    (0..times).for_each(|_| f());
    start.elapsed() / times
}

fn on_ours<F>(runtime: &Runtime, work: impl Fn() -> F) -> Duration
where
    F: Future<Output = Duration> + Send + 'static,
{
    median(|| runtime.block_on(runtime.spawn(work())).unwrap())
}

async fn spawns() -> Duration {
    let start = Instant::now();
    for _ in 0..20_000 {
        windlass::spawn(async {}).await.unwrap();
    }
    start.elapsed() / 20_000
}

async fn tokio_spawns() -> Duration {
    let start = Instant::now();
    for _ in 0..2_000 {
        tokio::spawn(async {}).await.unwrap();
    }
    start.elapsed() / 2_000
}

async fn slept<F: Future>(sleep: impl Fn() -> F) -> Duration {
    let start = Instant::now();
    for _ in 0..50 {
        sleep().await;
    }
    start.elapsed() / 50
}

async fn our_echo() -> Duration {
    let listener = windlass::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = windlass::net::TcpStream::connect(address).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    let echo = windlass::spawn(echo(Io::new(server)));
    let time = ask(Io::new(client)).await;
    echo.await.unwrap();
    time
}

async fn tokio_echo() -> Duration {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = tokio::net::TcpStream::connect(address).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    client.set_nodelay(true).unwrap();
    server.set_nodelay(true).unwrap();
    // On our workers if they are there, and else on tokio's.
    if windlass::worker_index().is_some() {
        let echo = windlass::spawn(echo(server));
        let time = ask(client).await;
        echo.await.unwrap();
        return time;
    }
    let echo = tokio::spawn(echo(server));
    let time = ask(client).await;
    echo.await.unwrap();
    time
}

async fn echo(mut stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin) {
    let mut bytes = [0; 64];
    while stream.read_exact(&mut bytes).await.is_ok() {
        stream.write_all(&bytes).await.unwrap();
    }
}

async fn ask(mut stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin) -> Duration {
    let mut bytes = [7; 64];
    let start = Instant::now();
    for _ in 0..2_000 {
        stream.write_all(&bytes).await.unwrap();
        stream.read_exact(&mut bytes).await.unwrap();
    }
    start.elapsed() / 2_000
}
