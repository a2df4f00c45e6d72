//! A server that runs out of descriptors while it serves: this binary again, in a process that may have few.
#![cfg(unix)]

mod common;

use std::fs::File;
use std::future::IntoFuture;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use axum::Router;
use axum::routing::get;
use common::{DEADLINE, run};
use windlass_axum::serve;
use windlass_net::TcpListener;

const ROLE: &str = "WINDLASS_AXUM_ROLE";
/// A server without a limit on connections, and one with the limit that it has by itself.
const UNLIMITED: &str = "unlimited";
const LIMITED: &str = "limited";

/// Ends the server, however the test ends.
struct EndOnDrop(Child);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        // Fails only if it has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn serves_in_a_child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    run(|| async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("address {}", listener.local_addr().unwrap());
        let app = Router::new().route("/", get(|| async { "hello" })).route("/files", get(files));
        let server = serve(listener, app);
        let server = match role.as_str() {
            UNLIMITED => server.limit(usize::MAX),
            _ => server,
        };
        server.into_future().await.unwrap();
    });
}

/// A handler that needs descriptors of its own.
async fn files() -> String {
    let program = std::env::current_exe().unwrap();
    let files: std::io::Result<Vec<File>> = (0..8).map(|_| File::open(&program)).collect();
    match files {
        Ok(_) => "hello".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Starts a server in a process that may have as many descriptors, and returns its address.
fn start(role: &str, descriptors: usize) -> (EndOnDrop, String) {
    let script = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "serves_in_a_child", "--nocapture"])
        .env(ROLE, role)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let server = EndOnDrop(child);
    loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the server has not said where it is");
        if let Some((_, address)) = line.split_once("address ") {
            return (server, address.trim().to_owned());
        }
    }
}

fn connect(address: &str) -> TcpStream {
    let client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(DEADLINE)).unwrap();
    client
}

fn ask(client: &mut TcpStream, path: &str) {
    write!(client, "GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
}

/// Reads an answer, whose body has to be `hello`.
fn read_hello(client: &mut TcpStream) {
    let mut answer = Vec::new();
    while !answer.ends_with(b"hello") {
        let mut bytes = [0; 1024];
        let count = match client.read(&mut bytes) {
            // A read with a time-out ends so when the process, or the whole machine, was stopped and goes on.
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            count => count.unwrap(),
        };
        assert_ne!(count, 0, "not answered: {}", String::from_utf8_lossy(&answer));
        answer.extend_from_slice(&bytes[..count]);
    }
}

/// Connections stay open until their client has read the answer, so most of them find no descriptor at first.
#[test]
fn all_connections_are_served_though_descriptors_run_out() {
    let (_server, address) = start(UNLIMITED, 40);
    let mut clients = Vec::new();
    for _ in 0..100 {
        let mut client = connect(&address);
        ask(&mut client, "/");
        clients.push(client);
    }
    for mut client in clients {
        read_hello(&mut client);
    }
}

/// The server's default limit, 75 connections of 100 descriptors, leaves some for what handlers open.
#[test]
fn connections_do_not_take_the_descriptors_that_handlers_need() {
    let (_server, address) = start(LIMITED, 100);
    let mut clients = Vec::new();
    for _ in 0..150 {
        let mut client = connect(&address);
        ask(&mut client, "/");
        clients.push(client);
    }
    let mut waiting = clients.split_off(75);
    for client in &mut clients {
        read_hello(client);
    }
    for client in &mut clients {
        ask(client, "/files");
        read_hello(client);
    }
    drop(clients);
    for client in &mut waiting {
        read_hello(client);
    }
}
