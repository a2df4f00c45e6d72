//! A TCP proxy with time-outs, back-pressure and half-close.
//!
//! ```text
//! cargo run --release --example proxy -- LISTEN SERVER   from one address to another, until Ctrl-C or SIGTERM
//! cargo run --release --example proxy -- --demo          between a client and a server of its own; exits
//!
//! cargo run --release --example proxy -- 127.0.0.1:8000 example.org:80
//! curl -H 'Host: example.org' http://127.0.0.1:8000/
//! ```

use std::io;
use std::net::Shutdown;
use std::time::Duration;

use windlass::io::CopyOptions;
use windlass::net::{TcpListener, TcpStream};
use windlass::signal::termination;
use windlass::sync::CancellationToken;
use windlass::timer::timeout;

/// The time that the server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The time after which an idle connection is closed.
const IDLE: Duration = Duration::from_secs(60);

#[windlass::main]
async fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let stop = CancellationToken::new();
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("--demo"), _) => demo(stop).await,
        (Some(listen), Some(server)) => {
            let listener = TcpListener::bind(listen).await?;
            let address = listener.local_addr()?;
            println!("{address} is passed on to {server}");
            let host = server.rsplit_once(':').map_or(&*server, |(host, _port)| host);
            println!("  curl -H 'Host: {host}' http://{address}/");
            let serving = windlass::spawn(serve(listener, server, IDLE, stop.clone()));
            termination()?.recv().await;
            println!(
                "no new connections; those there are go on until they end, or for {IDLE:?} at most"
            );
            stop.cancel();
            serving.await?
        }
        _ => {
            println!("usage: proxy LISTEN SERVER | --demo");
            println!("  proxy 127.0.0.1:8000 example.org:80");
            Ok(())
        }
    }
}

/// Forwards connections until `stop` is cancelled, and then waits for those that are open.
async fn serve(
    listener: TcpListener,
    server: String,
    idle: Duration,
    stop: CancellationToken,
) -> io::Result<()> {
    let mut connections = windlass::task::JoinSet::new();
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        // Forget the connections that have ended.
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((client, peer)) => {
                let server = server.clone();
                connections.spawn(async move {
                    match pass_on(client, &server, idle).await {
                        Ok((there, back)) => println!("{peer}: {there} bytes there, {back} back"),
                        Err(error) => println!("{peer}: {error}"),
                    }
                });
            }
            // Out of descriptors, most likely: let some connections end before the next try.
            Err(error) => {
                eprintln!("accept failed: {error}");
                windlass::timer::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    let _ = timeout(IDLE, async { while connections.join_next().await.is_some() {} }).await;
    Ok(())
}

/// Forwards one connection. A side that does not read makes the other wait: at most 64 KiB are buffered each way.
async fn pass_on(mut client: TcpStream, server: &str, idle: Duration) -> io::Result<(u64, u64)> {
    let mut server = timeout(CONNECT, TcpStream::connect(server)).await??;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    CopyOptions::new().idle_timeout(idle).copy_bidirectional(&mut client, &mut server).await
}

/// Runs a client that sends a request, closes its side, and then reads the answer; and one that falls silent.
async fn demo(stop: CancellationToken) -> io::Result<()> {
    let origin = TcpListener::bind("127.0.0.1:0").await?;
    let origin_address = origin.local_addr()?.to_string();
    let counting = windlass::spawn(async move {
        while let Ok((stream, _)) = origin.accept().await {
            drop(windlass::spawn(async move {
                let mut all = Vec::new();
                stream.read_to_end(&mut all).await?; // the client's half-close comes through
                stream.write_all(format!("{} bytes, thank you", all.len()).as_bytes()).await
            }));
        }
    });

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    println!("{address} is passed on to {origin_address}");
    let idle = Duration::from_millis(300);
    let serving = windlass::spawn(serve(listener, origin_address, idle, stop.clone()));

    let client = TcpStream::connect(address).await?;
    client.write_all(&vec![b'.'; 5_000_000]).await?;
    client.shutdown(Shutdown::Write)?;
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await?;
    println!("the answer: {}", String::from_utf8_lossy(&answer));
    assert_eq!(answer, b"5000000 bytes, thank you");

    let sleeper = TcpStream::connect(address).await?;
    sleeper.write_all(b"...").await?;
    let _ = sleeper.read(&mut [0; 16]).await; // ended by the proxy
    println!("a connection that does nothing was ended");

    stop.cancel();
    serving.await??;
    counting.abort();
    Ok(())
}
