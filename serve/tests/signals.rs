//! Servers that signals end, each in a process of its own: this binary, with a role in its environment.
#![cfg(unix)]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use common::{DEADLINE, run};
use windlass_net::TcpListener;
use windlass_os::signal::termination;
use windlass_runtime::timer::sleep;
use windlass_serve::Drain;

const ROLE: &str = "WINDLASS_SERVE_ROLE";

/// The server, and what it prints.
struct Server {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Server {
    /// Starts this binary as a server; connects to it, and waits until it has taken the connection.
    fn start(role: &str) -> (Self, TcpStream) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "serves_in_a_child", "--nocapture"])
            .env(ROLE, role)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, output };
        let address = server.line_after("address ");
        let mut client = TcpStream::connect(address).unwrap();
        client.set_read_timeout(Some(DEADLINE)).unwrap();
        assert_eq!(byte(&mut client), b'h');
        (server, client)
    }

    /// The rest of the next line that has `mark` in it.
    fn line_after(&mut self, mark: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "no line with {mark:?}");
            if let Some((_, rest)) = line.split_once(mark) {
                return rest.trim().to_owned();
            }
        }
    }

    fn signal(&self, signal: &str) {
        let kill = format!("kill -{signal} {}", self.child.id());
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

fn byte(client: &mut TcpStream) -> u8 {
    let mut byte = [0];
    client.read_exact(&mut byte).unwrap();
    byte[0]
}

/// Says hello; told to end, says so, and ends if it is polite. Before that, a patient one waits for a signal, and for the
/// server to have had every chance of minding it.
#[test]
fn serves_in_a_child() {
    let Ok(role) = std::env::var(ROLE) else { return };
    run(move || async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut drain = Drain::new().deadline(Duration::from_secs(3600));
        if role == "patient, minds the signal twice" {
            let mut other = termination().unwrap();
            drain = drain.on(async move {
                other.recv().await;
            });
        }
        let drain = drain.on_signals().unwrap();
        let switch = drain.switch();
        println!("address {address}");
        let served = drain.serve(listener, move |stream, _, told| {
            let (role, switch) = (role.clone(), switch.clone());
            let mut requests = termination().unwrap();
            async move {
                stream.write_all(b"h").await.unwrap();
                if role == "patient, with a hook" {
                    switch.flip();
                }
                told.cancelled().await;
                stream.write_all(b"t").await.unwrap();
                if role.starts_with("patient") {
                    requests.recv().await;
                    // Long enough for a server that is wrong to be seen; one that is right passes in any case.
                    sleep(Duration::from_millis(200)).await;
                    stream.write_all(b"d").await.unwrap();
                }
                if role == "stubborn" {
                    std::future::pending::<()>().await;
                }
            }
        });
        let report = served.await.unwrap();
        println!("report {} {}", report.accepted(), report.aborted().len());
    });
}

#[test]
fn a_signal_begins_the_drain() {
    for signal in ["TERM", "INT"] {
        let (mut server, mut client) = Server::start("polite");
        server.signal(signal);
        assert_eq!(byte(&mut client), b't');
        assert_eq!(client.read_to_end(&mut Vec::new()).unwrap(), 0);
        assert_eq!(server.line_after("report "), "1 0");
        assert!(server.child.wait().unwrap().success());
    }
}

#[test]
fn a_second_signal_ends_the_drain_at_once() {
    for (first, second) in [("TERM", "TERM"), ("INT", "TERM")] {
        let (mut server, mut client) = Server::start("stubborn");
        server.signal(first);
        // The drain has begun, and would wait for an hour.
        assert_eq!(byte(&mut client), b't');
        // Signals right after the first are taken for the same, so it may take several.
        let mut left = 1000;
        while server.child.try_wait().unwrap().is_none() {
            assert_ne!(left, 0, "the second signal does not end it");
            left -= 1;
            server.signal(second);
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(server.line_after("report "), "1 1");
        assert!(server.child.wait().unwrap().success());
    }
}

/// The switch had been flipped, so the first signal aborted all connections.
#[test]
fn the_first_signal_does_not_end_a_drain_that_a_hook_has_begun() {
    let (mut server, mut client) = Server::start("patient, with a hook");
    assert_eq!(byte(&mut client), b't');
    server.signal("TERM");
    assert_eq!(byte(&mut client), b'd', "the connection goes on");
    assert_eq!(server.line_after("report "), "1 0");
}

/// Both triggers flipped the switch, so one signal began the drain and ended it.
#[test]
fn two_triggers_that_mind_the_same_signal_begin_the_drain_together() {
    let (mut server, mut client) = Server::start("patient, minds the signal twice");
    server.signal("TERM");
    assert_eq!(byte(&mut client), b't');
    assert_eq!(byte(&mut client), b'd', "the connection goes on");
    assert_eq!(server.line_after("report "), "1 0");
}
