//! Every worker blocks for half a second, as a call that should have gone to the blocking pool does: what
//! happens to the timers and to the clients of the same runtime meanwhile?
//!
//! A task naps for 5 ms again and again, and a thread outside has a message echoed each millisecond. Of both
//! the worst case counts, not the median: one frozen client is what a user complains about.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::echo::{Server, Tasks};
use super::timers::late;
use super::{Aim, Row, Workload, peers};
use crate::measure::{Budget, Metrics};
use crate::peers::{NetPeer, TimePeer, WORKERS};
use crate::service::{Echo, Kind};

pub(super) const WORKLOADS: &[Workload] = &[Workload {
    name: "stall",
    about: "every worker blocks for 500 ms; the latest timer and the slowest echo meanwhile",
    base: "tokio",
    rows: &[
        Row::cost("timer_worst_ns", "ms, latest timer").scaled(1e6).aim(Aim::Ratio(0.1)),
        Row::cost("echo_worst_ns", "ms, slowest echo").scaled(1e6).aim(Aim::Ratio(0.1)),
    ],
    peers: peers![run: Tokio, Smol, Windlass],
}];

const BLOCKED: Duration = Duration::from_millis(500);
const NAP: Duration = Duration::from_millis(5);
const BETWEEN_MESSAGES: Duration = Duration::from_millis(1);
/// Before and after, for the worst case not to be a start or an end.
const AROUND: Duration = Duration::from_millis(50);

fn run<P: NetPeer + TimePeer>(_: &Budget) -> Metrics {
    let server = Tasks::<P>::start::<Echo>(None);
    let (peer, address) = (server.peer(), server.address());
    let over = Arc::new(AtomicBool::new(false));
    let timer = {
        let over = Arc::clone(&over);
        peer.spawn_from_outside(async move {
            let mut worst = 0;
            while !over.load(Ordering::Relaxed) {
                worst = worst.max(late::<P>(NAP).await);
            }
            worst
        })
    };
    let client = {
        let over = Arc::clone(&over);
        thread::spawn(move || slowest_echo(address, &over))
    };
    thread::sleep(AROUND);
    let blockers: Vec<_> =
        (0..WORKERS).map(|_| peer.spawn_from_outside(async { thread::sleep(BLOCKED) })).collect();
    peer.block_on(async {
        for blocker in blockers {
            blocker.await;
        }
    });
    thread::sleep(AROUND);
    over.store(true, Ordering::Relaxed);
    Metrics::new()
        .with("timer_worst_ns", peer.block_on(timer) as f64)
        .with("echo_worst_ns", client.join().expect("it is answered").as_nanos() as f64)
}

fn slowest_echo(address: SocketAddr, over: &AtomicBool) -> Duration {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("a TCP socket");
    let message = Kind::Echo.request(0);
    let mut answer = vec![0; message.len()];
    let mut worst = Duration::ZERO;
    while !over.load(Ordering::Relaxed) {
        let began = Instant::now();
        stream.write_all(&message).expect("the server reads");
        stream.read_exact(&mut answer).expect("the server answers");
        worst = worst.max(began.elapsed());
        thread::sleep(BETWEEN_MESSAGES);
    }
    worst
}
