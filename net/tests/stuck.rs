//! A task that blocks its worker keeps nobody from the events of others.

mod common;

use std::io::{Read, Write};
use std::sync::mpsc;
use std::time::Duration;

use common::{DEADLINE, runtime, within_deadline};
use windlass_net::TcpListener;

/// A connection of an outside thread, which blocks, and the server's end of it.
fn accept(
    runtime: &windlass_runtime::Runtime,
    listener: &TcpListener,
) -> (std::net::TcpStream, windlass_net::TcpStream) {
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.set_nodelay(true).unwrap();
    // Well before the test is taken to hang, which would not say why.
    client.set_read_timeout(Some(DEADLINE / 6)).unwrap();
    let (server, _) = runtime.block_on(listener.accept()).unwrap();
    (client, server)
}

/// The worker that has the event is the one that waited for it on the OS. While it is stuck, with nothing
/// but short polls before, the other must not count on it to look.
#[test]
fn events_are_served_while_the_worker_that_took_the_last_one_is_stuck() {
    within_deadline(|| {
        let runtime = runtime();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let (mut blocker, blocked) = accept(&runtime, &listener);
        let (mut client, server) = accept(&runtime, &listener);
        let (stuck, is_stuck) = mpsc::channel();
        let (release, released) = mpsc::channel::<()>();
        let blocking = runtime.spawn(async move {
            let mut byte = [0];
            blocked.read(&mut byte).await.unwrap();
            stuck.send(()).unwrap();
            let _ = released.recv();
        });
        let echo = runtime.spawn(async move {
            let mut byte = [0];
            while server.read(&mut byte).await.unwrap() > 0 {
                server.write(&byte).await.unwrap();
            }
        });
        blocker.write_all(&[1]).unwrap();
        is_stuck.recv().unwrap();
        for round in 0..100 {
            client.write_all(&[round]).unwrap();
            let mut byte = [0];
            client.read_exact(&mut byte).expect("an answer");
            assert_eq!(byte, [round]);
            if round % 10 == 0 {
                // Falling asleep and everything that goes with it, too.
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        drop(release);
        drop(client);
        runtime.block_on(async {
            blocking.await.unwrap();
            echo.await.unwrap();
        });
    });
}
