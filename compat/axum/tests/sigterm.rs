//! A server with default settings, in a process of its own, that gets SIGTERM under load from
//! outside: it loses no request that was accepted. The server is this binary, with a role in its
//! environment; the load is threads that know nothing of windlass.
#![cfg(unix)]

mod common;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::routing::{get, post};
use common::{DEADLINE, run};
use windlass_axum::serve;
use windlass_net::TcpListener;

const ROLE: &str = "WINDLASS_SIGTERM_ROLE";
/// How many rounds there are: 10 in the gate, 50 in `scripts/full`.
const ROUNDS: &str = "WINDLASS_DRAIN_ROUNDS";

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";
const POST: &[u8] = b"POST /length HTTP/1.1\r\nhost: test\r\ncontent-length: 10000\r\n\r\n";

/// The length of an answer that the kernel's buffers have no room for.
const LARGE: usize = 16 << 20;

/// A server keeps an idle connection for 250 ms once it is told to end, and so for requests that
/// come sooner than that. A client that was held up for longer has not sent its request in time.
const SOON: Duration = Duration::from_millis(150);

#[test]
fn serves_in_a_child() {
    if std::env::var(ROLE).is_err() {
        return;
    }
    run(|| async {
        let app = Router::new()
            .route("/", get(|| async { "hello" }))
            .route("/large", get(|| async { vec![7; LARGE] }))
            .route("/length", post(|body: Bytes| async move { body.len().to_string() }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = serve(listener, app).on_signals().unwrap();
        println!("address {address}");
        let report = server.await.unwrap();
        assert!(report.is_clean() && report.panicked() == 0, "{report}");
    });
}

struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "serves_in_a_child", "--nocapture"])
            .env(ROLE, "server")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut addresses = lines.map_while(Result::ok).filter_map(|line| {
            let (_, address) = line.split_once("address ")?;
            Some(address.trim().parse().unwrap())
        });
        let address = addresses.next().expect("the server says where it is");
        // Its test harness goes on to print.
        thread::spawn(move || addresses.for_each(drop));
        Self { child, address }
    }

    fn terminate(&self) {
        let kill = format!("kill -TERM {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails only if it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a client uses its connections.
#[derive(Clone, Copy, Debug)]
struct Habit {
    keeps_alive: bool,
    posts: bool,
}

/// What the clients of a round have seen.
#[derive(Default)]
struct Seen {
    answered: AtomicUsize,
    lost: AtomicUsize,
}

/// Asks until no connection can be made any more.
fn client(address: SocketAddr, habit: Habit, seen: &Seen) {
    // Connections that the server refuses time out, or fail once it has gone.
    loop {
        let before = Instant::now();
        let connected = TcpStream::connect_timeout(&address, Duration::from_millis(500));
        let Ok(mut stream) = connected else { return };
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut usable = true;
        // Since before the connection was idle: this thread may have been held up when it was answered, too.
        let mut since = before;
        while usable {
            let begun = Instant::now();
            let sent = send(&mut stream, habit);
            let in_time = since.elapsed() < SOON;
            since = begun;
            match sent.and_then(|()| receive(&mut stream)) {
                Ok(stays_open) => {
                    seen.answered.fetch_add(1, Relaxed);
                    usable = stays_open && habit.keeps_alive;
                }
                Err(error) => {
                    if in_time {
                        eprintln!("lost: {habit:?}: {error}");
                        seen.lost.fetch_add(1, Relaxed);
                    }
                    usable = false;
                }
            }
        }
    }
}

/// The body is a write of its own, and arrives in reads of its own.
fn send(stream: &mut TcpStream, habit: Habit) -> io::Result<()> {
    if habit.posts {
        stream.write_all(POST)?;
        stream.write_all(&[7; 10_000])
    } else {
        stream.write_all(GET)
    }
}

/// Reads a response; true if the connection can be used for another request.
fn receive(stream: &mut TcpStream) -> io::Result<bool> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.unwrap().parse().unwrap();
            if bytes.len() >= end + 4 + length {
                assert!(head.starts_with("http/1.1 200"), "{head}");
                return Ok(!head.contains("connection: close"));
            }
        }
        let mut chunk = [0; 1024];
        match read(stream, &mut chunk)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

fn read(stream: &mut TcpStream, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(buf) {
            // A read with a time-out ends so when the process, or the whole machine, was stopped and goes on.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn round() {
    let mut server = Server::start();
    let seen = Arc::new(Seen::default());
    let mut clients = Vec::new();
    for keeps_alive in [false, true] {
        for posts in [false, true] {
            for _ in 0..3 {
                let (address, seen) = (server.address, seen.clone());
                let habit = Habit { keeps_alive, posts };
                clients.push(thread::spawn(move || client(address, habit, &seen)));
            }
        }
    }
    let begun = Instant::now();
    while seen.answered.load(Relaxed) < 500 {
        assert!(begun.elapsed() < DEADLINE, "the server does not answer");
        thread::sleep(Duration::from_millis(1));
    }
    server.terminate();
    assert!(server.child.wait().unwrap().success());
    for client in clients {
        client.join().unwrap();
    }
    assert_eq!(seen.lost.load(Relaxed), 0, "requests were lost");
}

/// hyper takes the body at once, and so it was not known that most of it was still to be sent: the rest of it was cut off
/// some five seconds after the signal, and the report was clean.
#[test]
fn an_answer_that_is_read_slowly_is_sent_to_its_end() {
    if std::env::var(ROLE).is_ok() {
        return;
    }
    let mut server = Server::start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(b"GET /large HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
    let mut piece = vec![0; 64 * 1024];
    let mut count = read(&mut stream, &mut piece).unwrap();
    server.terminate();
    // It takes no more than that, for longer than an idle connection has to close.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(6) {
        count += read(&mut stream, &mut piece[..1024]).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
    while count < LARGE {
        match read(&mut stream, &mut piece) {
            Ok(0) | Err(_) => panic!("cut off after {count} bytes"),
            Ok(more) => count += more,
        }
    }
    drop(stream);
    assert!(server.child.wait().unwrap().success());
}

#[test]
fn sigterm_loses_no_request_that_was_accepted() {
    if std::env::var(ROLE).is_ok() {
        return;
    }
    let rounds = std::env::var(ROUNDS).ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    for _ in 0..rounds {
        round();
    }
}
