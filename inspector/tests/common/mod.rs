//! A client that says what it is told to, and a runtime with an inspector.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use windlass::Runtime;
use windlass::inspector::{Builder, Inspector};

pub const TOKEN: &str = "0123456789abcdef";
/// A test that has waited for as long as this has failed.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// A runtime, and an inspector that looks into it.
pub struct Served {
    pub inspector: Inspector,
    pub runtime: Runtime,
}

impl Served {
    pub fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub fn with(set: impl FnOnce(Builder) -> Builder) -> Self {
        let runtime = windlass::Builder::new().workers(2).thread_name("seen").build().unwrap();
        // A machine that is short of time drops nobody.
        let patient = Builder::new().token(TOKEN).header_timeout(DEADLINE).write_timeout(DEADLINE);
        let builder = set(patient.refresh(Duration::from_millis(50)));
        let inspector = runtime.block_on(builder.serve("127.0.0.1:0")).unwrap();
        Self { inspector, runtime }
    }

    pub fn address(&self) -> SocketAddr {
        self.inspector.local_addr()
    }

    /// Returns a connection over which nothing has been said.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// Sends the bytes and returns the whole response.
    pub fn say(&self, request: &str) -> Response {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Response::of(&bytes)
    }

    /// Sends a request with a `Host` and the token.
    pub fn get(&self, path: &str) -> Response {
        self.say(&self.request("GET", path, ""))
    }

    pub fn request(&self, method: &str, path: &str, fields: &str) -> String {
        let mark = if path.contains('?') { '&' } else { '?' };
        format!(
            "{method} {path}{mark}token={TOKEN} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n",
            self.address()
        )
    }

    /// Opens a stream of events.
    pub fn events(&self, query: &str) -> Events {
        let mut stream = self.connect();
        stream.write_all(self.request("GET", &format!("/events?{query}"), "").as_bytes()).unwrap();
        Events { stream, received: String::new() }
    }
}

pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Response {
    pub fn of(bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("a whole head");
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub fn field(&self, name: &str) -> &str {
        let prefix = format!("{}: ", name.to_lowercase());
        self.head
            .lines()
            .find(|line| line.to_lowercase().starts_with(&prefix))
            .map_or("", |line| &line[prefix.len()..])
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).expect("a body of JSON")
    }
}

/// A stream of events.
pub struct Events {
    pub stream: TcpStream,
    received: String,
}

impl Events {
    /// Returns the next frame, or `None` if the server has closed the stream.
    pub fn next(&mut self) -> Option<serde_json::Value> {
        loop {
            if let Some((event, rest)) = self.received.split_once("\n\n") {
                let (_, data) = event.split_once("data: ").expect("an event with data");
                let frame = serde_json::from_str(data).expect("a frame of JSON");
                self.received = rest.to_owned();
                return Some(frame);
            }
            let mut buffer = [0; 65536];
            match self.stream.read(&mut buffer) {
                // A read with a time-out ends so when the process, or the whole machine, was stopped and goes on.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => return None,
                // Frames are ASCII but for names, and the tests' names are too.
                Ok(count) => self.received.push_str(&String::from_utf8_lossy(&buffer[..count])),
            }
        }
    }
}

pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
