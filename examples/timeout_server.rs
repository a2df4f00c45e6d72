//! An echo server with time-outs: it closes a connection that sends nothing for a second, that does not read its
//! answer, or that lasts longer than a minute.
//!
//! ```sh
//! cargo run --example timeout_server -- 127.0.0.1:7000     # then: nc 127.0.0.1 7000
//! cargo run --example timeout_server                       # a demonstration with two clients
//! ```

use std::io;
use std::time::Duration;

use windlass::net::{TcpListener, TcpStream};
use windlass::timer::{FutureExt, sleep};

const IDLE: Duration = Duration::from_secs(1);
const SEND: Duration = Duration::from_secs(5);
const VISIT: Duration = Duration::from_secs(60);

async fn echo(stream: &TcpStream) -> io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        // A time-out is an `io::Error` of the kind `TimedOut`, and a read that is cancelled loses nothing.
        match stream.read(&mut buffer).timeout(IDLE).await?? {
            0 => return Ok(()),
            read => stream.write_all(&buffer[..read]).timeout(SEND).await??,
        }
    }
}

async fn serve(listener: TcpListener) -> io::Result<()> {
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok(accepted) => accepted,
            // Out of descriptors, most likely: let some connections end before the next try.
            Err(error) => {
                eprintln!("accept failed: {error}");
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        drop(windlass::spawn(async move {
            match echo(&stream).timeout(VISIT).await {
                Ok(Ok(())) => println!("{peer} has left"),
                Ok(Err(error)) => println!("{peer} is sent away: {error}"),
                Err(_) => println!("{peer} has stayed too long"),
            }
        }));
    }
}

#[windlass::main]
async fn main() -> io::Result<()> {
    if let Some(address) = std::env::args().nth(1) {
        let listener = TcpListener::bind(address).await?;
        println!("listening on {}", listener.local_addr()?);
        return serve(listener).await;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    drop(windlass::spawn(serve(listener)));

    let lively = windlass::spawn(async move {
        let stream = TcpStream::connect(address).await?;
        let mut buffer = [0; 5];
        for _ in 0..5 {
            sleep(IDLE / 4).await;
            stream.write_all(b"hello").await?;
            stream.read_exact(&mut buffer).await?;
        }
        Ok::<_, io::Error>(())
    });
    let silent = TcpStream::connect(address).await?;
    // The server hangs up.
    assert_eq!(silent.read(&mut [0; 16]).await?, 0);
    lively.await.expect("the lively client")?;
    println!("the lively client was served, the silent one was not waited for");
    Ok(())
}
