//! Thousands of connections in one process: idle they cost nothing but memory, and each still works.
#![cfg(unix)]

mod common;

use std::time::Duration;

use common::os::{cpu_micros, most_descriptors};
use common::{DEADLINE, echo_server, runtime, within};
use windlass_net::TcpStream;
use windlass_runtime::timer::sleep;

/// Connections, if the process may have the descriptors for both ends of them.
const MANY: usize = 9_000;
/// Descriptors for everything else.
const OTHERS: usize = 200;
/// How long nothing happens, and how much CPU time of that may be used: what other programs do to ours
/// (page faults, interrupts) is counted too.
const IDLE: Duration = Duration::from_secs(1);
const LITTLE: u64 = 20_000;

#[test]
fn thousands_of_idle_connections_cost_no_time_and_all_still_work() {
    within(5 * DEADLINE, || {
        let allowed = usize::try_from(most_descriptors()).unwrap_or(usize::MAX);
        let many = MANY.min(allowed.saturating_sub(OTHERS) / 2);
        runtime().block_on(connect_rest_and_talk(many));
    });
}

async fn connect_rest_and_talk(many: usize) {
    let address = echo_server().await;
    let before = resident();
    let mut clients = Vec::with_capacity(many);
    for number in 0..many {
        let client = TcpStream::connect(address).await.expect("a connection");
        // Once it was answered, the other end is accepted and waits.
        talk(&client, number).await;
        clients.push(client);
    }
    let each = resident().saturating_sub(before) / (2 * many).max(1);
    println!(
        "{many} connections: {each} bytes resident for each end, with 16 KiB of buffer at one"
    );

    // What the connecting has left behind (timers of the guard, spinning) ends by itself, and what the machine does to us
    // now and then is no matter of ours.
    let mut used = Vec::new();
    while used.last().is_none_or(|used| *used >= LITTLE) && used.len() < 10 {
        sleep(Duration::from_millis(200)).await;
        let before = cpu_micros();
        sleep(IDLE).await;
        used.push(cpu_micros() - before);
    }
    println!("{used:?} µs of CPU time in {IDLE:?} each");
    assert!(used.last().is_some_and(|used| *used < LITTLE), "{used:?} µs of CPU time");

    for (number, client) in clients.iter().enumerate() {
        talk(client, number).await;
    }
}

async fn talk(client: &TcpStream, number: usize) {
    let message = (number as u64).to_ne_bytes();
    client.write_all(&message).await.expect("sent");
    let mut answer = [0; 8];
    client.read_exact(&mut answer).await.expect("answered");
    assert_eq!(answer, message);
}

/// Resident bytes of the process; 0 where the OS does not tell in this way.
fn resident() -> usize {
    let Ok(pages) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0) * 4096_usize
}
