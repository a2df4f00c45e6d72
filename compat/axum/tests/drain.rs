//! Servers that are told to end while they are busy lose no request.

mod common;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use common::{connect, read_response, request, run, server, server_with, try_http2};
use windlass_axum::Http;
use windlass_net::TcpStream;
use windlass_runtime::task::JoinSet;
use windlass_runtime::timer::{sleep, timeout};
use windlass_runtime::yield_now;

const ROUNDS: usize = 50;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";

/// What the clients of a round have seen.
#[derive(Default)]
struct Seen {
    answered: AtomicUsize,
    lost: AtomicUsize,
    /// The server has been told to end.
    is_ending: AtomicBool,
}

impl Seen {
    fn answered(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    fn lost(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }
}

/// A connection, or `None` once the server takes no more.
async fn connection(address: SocketAddr, seen: &Seen) -> Option<TcpStream> {
    loop {
        let limit = Duration::from_millis(100);
        if let Ok(Ok(stream)) = timeout(limit, TcpStream::connect(address)).await {
            return Some(stream);
        }
        // Before that, the machine was busy with other things.
        if seen.is_ending.load(Ordering::Relaxed) {
            return None;
        }
    }
}

/// Sends a request, and says whether the connection can be used for another.
async fn exchange(stream: &TcpStream, seen: &Seen) -> bool {
    if stream.write_all(REQUEST).await.is_err() {
        seen.lost();
        return false;
    }
    match read_response(stream).await {
        Some((head, _)) => {
            seen.answered();
            !head.contains("connection: close")
        }
        None => {
            seen.lost();
            false
        }
    }
}

async fn connection_a_request(address: SocketAddr, seen: Arc<Seen>) {
    while let Some(stream) = connection(address, &seen).await {
        exchange(&stream, &seen).await;
    }
}

async fn keep_alive(address: SocketAddr, seen: Arc<Seen>) {
    while let Some(stream) = connection(address, &seen).await {
        while exchange(&stream, &seen).await {
            yield_now().await;
        }
    }
}

/// Streams that the server has not begun to serve are refused, and no loss.
async fn streams(address: SocketAddr, seen: Arc<Seen>) {
    let Some(stream) = connection(address, &seen).await else { return };
    let Some(mut sender) = try_http2(stream).await else { return };
    while sender.ready().await.is_ok() {
        if let Ok(response) = sender.send_request(request("/")).await {
            common::text(response).await;
            seen.answered();
        }
    }
}

async fn round() {
    let handled = Arc::new(AtomicUsize::new(0));
    let count = handled.clone();
    let app = Router::new().route(
        "/",
        get(move || async move {
            count.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
            "answer"
        }),
    );
    // No client of a crowded machine is late.
    let linger = Http::new().linger(Duration::from_secs(20));
    let (address, switch, serving) = server_with(app, |serve| serve.http(linger)).await;
    let seen = Arc::new(Seen::default());
    let mut clients = JoinSet::new();
    for _ in 0..8 {
        clients.spawn(connection_a_request(address, seen.clone()));
        clients.spawn(keep_alive(address, seen.clone()));
    }
    for _ in 0..2 {
        clients.spawn(streams(address, seen.clone()));
    }
    while handled.load(Ordering::Relaxed) < 200 {
        sleep(Duration::from_millis(1)).await;
    }
    seen.is_ending.store(true, Ordering::Relaxed);
    switch.flip();
    let report = serving.await.unwrap().unwrap();
    while let Some(client) = clients.join_next().await {
        client.unwrap();
    }
    assert!(report.is_clean(), "{report}");
    assert_eq!(seen.lost.load(Ordering::Relaxed), 0, "requests were lost; {report}");
    assert_eq!(handled.load(Ordering::Relaxed), seen.answered.load(Ordering::Relaxed));
}

#[test]
fn no_request_is_lost_in_fifty_rounds() {
    run(|| async {
        for _ in 0..ROUNDS {
            round().await;
        }
    });
}

/// In a process of its own, because it raises the limit of descriptors as far as it may.
#[test]
fn many_idle_connections_are_closed_at_the_end() {
    const NAME: &str = "many_idle_connections_are_closed_at_the_end";
    const CHILD: &str = "WINDLASS_MANY_IDLE";
    if std::env::var(CHILD).is_err() {
        let script = "ulimit -S -n \"$(ulimit -H -n)\"; exec \"$0\" \"$@\"";
        let child = std::process::Command::new("sh")
            .args(["-c", script])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success(), "{text}{}", String::from_utf8_lossy(&child.stderr));
        let count = text.lines().find(|line| line.contains("idle connections"));
        println!("{}", count.expect("the child says how many there were"));
        return;
    }
    run(|| async {
        let app = Router::new().route("/", get(|| async { "hello" }));
        let count = most_connections().min(5_000);
        println!("{count} idle connections");
        let (address, switch, serving) = server(app).await;
        let mut clients = Vec::new();
        for _ in 0..count {
            let client = connect(address).await;
            assert_eq!(common::get(&client, "/").await.unwrap().1, "hello");
            clients.push(client);
        }
        switch.flip();
        for client in clients {
            assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        }
        let report = serving.await.unwrap().unwrap();
        assert!(report.is_clean(), "{report}");
        assert_eq!(report.accepted(), count);
    });
}

/// How many connections the process may have both ends of.
fn most_connections() -> u64 {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let limit = limit.and_then(|limit| limit.split_whitespace().next()?.parse().ok());
    limit.map_or(100, |limit: u64| limit.saturating_sub(200) / 2)
}
