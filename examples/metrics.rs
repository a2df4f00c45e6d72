//! A server that reports on itself: `/metrics` for Prometheus, `/tasks` for people, `/trace` for a trace viewer.
//!
//! ```text
//! cargo run --release --example metrics              serve on a free port until Ctrl-C
//! cargo run --release --example metrics -- ADDRESS   serve there
//! cargo run --release --example metrics -- --demo    serve, ask once for each page, exit
//! ```
//!
//! It speaks just enough HTTP for curl and for a collector. A real server would use the feature `axum`.

use std::fmt::Write;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use windlass::net::{TcpListener, TcpStream};
use windlass::{Handle, task, timer};

/// A collector's request is short, and comes soon after it connects.
const LONGEST_REQUEST: usize = 8 << 10;
const PATIENCE: Duration = Duration::from_secs(5);

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
    println!("http://{address}");
    // Something to see.
    task::Builder::new().name("a \"busy\" task").spawn(async {
        loop {
            windlass::spawn(async { timer::sleep(Duration::from_millis(1)).await }).await.unwrap();
        }
    });
    let server = task::Builder::new().name("server").spawn(async move {
        loop {
            let (stream, _) = listener.accept().await?;
            windlass::spawn(async move {
                // A client that disconnects, or is too slow, is not the server's problem.
                let _ = timer::timeout(PATIENCE, answer(stream)).await;
            });
        }
    });
    if demo {
        return show(address).await;
    }
    server.await?
}

async fn answer(stream: TcpStream) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut part = [0; 1024];
        let length = stream.read(&mut part).await?;
        request.extend_from_slice(&part[..length]);
        if length == 0 || request.len() > LONGEST_REQUEST {
            return Ok(());
        }
    }
    let handle = Handle::current();
    let (status, kind, body) = match request.split(|byte| *byte == b' ').nth(1) {
        Some(b"/metrics") => {
            let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
            ("200 OK", kind, handle.metrics().to_openmetrics().into_bytes())
        }
        Some(b"/tasks") => ("200 OK", "text/plain; charset=utf-8", tasks(&handle).into_bytes()),
        Some(b"/trace") => {
            let mut trace = Vec::new();
            handle.flight_record(&mut trace)?;
            ("200 OK", "application/json", trace)
        }
        _ => ("404 Not Found", "text/plain", b"try /metrics, /tasks or /trace\n".to_vec()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&body).await
}

/// What each task does, a line each.
fn tasks(handle: &Handle) -> String {
    let mut text = String::new();
    for task in handle.tasks() {
        let _ = writeln!(
            text,
            "{} {:?} {} {:?}, {} polls, waits for {:?} since {:?}",
            task.id,
            task.name.unwrap_or_default(),
            task.location,
            task.state,
            task.polls,
            task.waits_for,
            task.waiting_for,
        );
    }
    text
}

/// Requests each page, and prints the beginning of the answer.
async fn show(address: SocketAddr) -> io::Result<()> {
    for (page, expected) in
        [("/metrics", "# EOF\n"), ("/tasks", "server"), ("/trace", "traceEvents")]
    {
        let stream = TcpStream::connect(address).await?;
        stream
            .write_all(format!("GET {page} HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes())
            .await?;
        let mut answer = Vec::new();
        let mut part = [0; 4096];
        loop {
            match stream.read(&mut part).await? {
                0 => break,
                length => answer.extend_from_slice(&part[..length]),
            }
        }
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains(expected), "{answer}");
        println!("{page}: {} bytes", answer.len());
    }
    Ok(())
}
