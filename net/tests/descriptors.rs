//! Descriptors running out, and descriptors being given back. One test, because it counts them.
#![cfg(unix)]

mod common;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use common::{os, poll_once, run};
use windlass_net::unix::{UnixStream, pipe};
use windlass_net::{Async, OsEvent, TcpListener, TcpStream, UdpSocket};

/// The error of a process that has too many descriptors open: std has no stable name for it.
const TOO_MANY: Option<i32> = Some(libc::EMFILE);

#[test]
fn descriptors_run_out_and_come_back() {
    run(|| async {
        nothing_leaks().await;
        a_dropped_attempt_to_connect_closes_its_socket().await;
        accept_recovers().await;
        nothing_leaks().await;
    });
    a_manual_loop_loses_no_task();
}

/// The alarm of a loop is made when a timer first needs one.
fn a_manual_loop_loses_no_task() {
    let mut tasks = windlass_runtime::Builder::new().build_manual().unwrap();
    let sleeps = tasks.spawn_local(windlass_runtime::timer::sleep(Duration::from_millis(1)));
    tasks.ready_tasks(None).unwrap().for_each(windlass_runtime::manual::Runnable::run);
    let other = tasks.spawn_local(async {});
    let limit = os::limit_descriptors(Some(0));
    let ready = tasks.ready_tasks(Some(Duration::ZERO)).map(Iterator::collect::<Vec<_>>);
    os::limit_descriptors(Some(limit));
    ready.unwrap().into_iter().for_each(windlass_runtime::manual::Runnable::run);
    assert!(other.is_finished(), "what can go on comes before the error");
    let deadline = Instant::now() + common::DEADLINE;
    while !sleeps.is_finished() {
        assert!(Instant::now() < deadline, "there is an alarm again");
        let ready = tasks.ready_tasks(Some(Duration::from_secs(10))).unwrap();
        ready.for_each(windlass_runtime::manual::Runnable::run);
    }
}

async fn nothing_leaks() {
    // Made before, so that what it takes for good is not counted.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let before = os::open_descriptors();
    for _ in 0..10 {
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(Async::new(file).unwrap_err().kind(), ErrorKind::PermissionDenied);
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let (_reader, _writer) = server.into_split();
        drop(client);
        let (_held, unused) = common::refusing();
        assert!(TcpStream::connect(unused).await.is_err());
        drop(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        drop((pipe().unwrap(), UnixStream::pair().unwrap()));
        let event = OsEvent::new(true).unwrap();
        event.wait().await.unwrap();
    }
    assert_eq!(os::open_descriptors(), before);
}

async fn a_dropped_attempt_to_connect_closes_its_socket() {
    // A queue for one connection, which nobody takes: the next attempt stays under way.
    let (socket, address) = common::refusing();
    let listener = socket.listen(0).unwrap();
    let _queued = TcpStream::connect(address).await.unwrap();
    let before = os::open_descriptors();
    let mut pending = Box::pin(TcpStream::connect(address));
    assert!(poll_once(&mut pending).await.is_none());
    assert_eq!(os::open_descriptors(), before + 1);
    drop(pending);
    assert_eq!(os::open_descriptors(), before);
    listener.accept().await.unwrap();
}

/// The error is returned, trying again does not hang, waiting does not spin, and the connection that
/// could not be accepted is still there when a descriptor is.
async fn accept_recovers() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = TcpStream::connect(address).await.unwrap();
    let mut hoard = Vec::new();
    let limit = os::limit_descriptors(Some(os::open_descriptors() as u64 + 16));
    while let Ok(socket) = std::net::UdpSocket::bind("127.0.0.1:0") {
        hoard.push(socket);
    }
    for _ in 0..5 {
        assert_eq!(listener.accept().await.unwrap_err().raw_os_error(), TOO_MANY);
        assert_eq!(listener.try_accept().unwrap_err().raw_os_error(), TOO_MANY);
    }
    assert_eq!(TcpStream::connect(address).await.unwrap_err().raw_os_error(), TOO_MANY);
    assert_eq!(OsEvent::new(false).unwrap_err().raw_os_error(), TOO_MANY);

    // A server that pauses after an error costs nothing meanwhile.
    let mut rests = false;
    for _ in 0..5 {
        let (cpu, since) = (os::cpu_micros(), Instant::now());
        windlass_runtime::spawn_blocking(|| std::thread::sleep(Duration::from_millis(300)))
            .await
            .unwrap();
        rests |= Duration::from_micros(os::cpu_micros() - cpu) < since.elapsed() / 2;
        if rests {
            break;
        }
    }
    assert!(rests, "the poller spins");

    hoard.pop();
    let (server, peer) = listener.accept().await.unwrap();
    assert_eq!(peer, client.local_addr().unwrap());
    server.write_all(b"at last").await.unwrap();
    drop(hoard);
    os::limit_descriptors(Some(limit));
    client.read_exact(&mut [0; 7]).await.unwrap();
}
