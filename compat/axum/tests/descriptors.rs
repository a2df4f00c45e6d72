//! A server that runs out of descriptors while it serves: this binary again, in a process that may have few.
#![cfg(unix)]

mod common;

use std::future::IntoFuture;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use axum::Router;
use axum::routing::get;
use common::{DEADLINE, run};
use windlass_axum::serve;
use windlass_net::TcpListener;

const ROLE: &str = "WINDLASS_AXUM_ROLE";
/// How many descriptors the server may have, and how many connections it gets.
const DESCRIPTORS: usize = 40;
const CONNECTIONS: usize = 100;

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
    if std::env::var(ROLE).is_err() {
        return;
    }
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("address {}", listener.local_addr().unwrap());
        let app = Router::new().route("/", get(|| async { "hello" }));
        serve(listener, app).into_future().await.unwrap();
    });
}

/// Connections stay open until their client has read the answer, so most of them find no descriptor at first.
#[test]
fn all_connections_are_served_though_descriptors_run_out() {
    let script = format!("ulimit -n {DESCRIPTORS} && exec \"$0\" \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "serves_in_a_child", "--nocapture"])
        .env(ROLE, "server")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let _server = EndOnDrop(child);
    let address = loop {
        let mut line = String::new();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the server has not said where it is");
        if let Some((_, address)) = line.split_once("address ") {
            break address.trim().to_owned();
        }
    };
    let clients: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = TcpStream::connect(&address).unwrap();
            client.set_read_timeout(Some(DEADLINE)).unwrap();
            client.write_all(b"GET / HTTP/1.1\r\nhost: test\r\n\r\n").unwrap();
            client
        })
        .collect();
    for mut client in clients {
        let mut answer = Vec::new();
        while !answer.ends_with(b"hello") {
            let mut bytes = [0; 1024];
            let count = client.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "closed without an answer");
            answer.extend_from_slice(&bytes[..count]);
        }
    }
}
