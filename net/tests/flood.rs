//! A flood of datagrams: others are served meanwhile, and nothing is kept of what came too fast.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use common::run;
use windlass_net::{TcpStream, UdpSocket};
use windlass_runtime::spawn;

#[test]
fn a_flood_of_datagrams_keeps_nobody_from_being_served() {
    run(|| async {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
        let flooded = socket.local_addr().unwrap();
        let received = spawn({
            let socket = socket.clone();
            async move {
                let mut buffer = [0; 2048];
                loop {
                    let (size, peer) = socket.recv_from(&mut buffer).await.unwrap();
                    if &buffer[..size] == b"last" {
                        socket.send_to(b"over", peer).await.unwrap();
                        return;
                    }
                }
            }
        });
        let over = Arc::new(AtomicBool::new(false));
        let floods: Vec<_> = (0..2)
            .map(|_| {
                let over = over.clone();
                std::thread::spawn(move || {
                    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
                    while !over.load(SeqCst) {
                        // Dropped by the kernel where the other side is too slow.
                        let _ = socket.send_to(&[0; 1000], flooded);
                    }
                })
            })
            .collect();
        let address = common::echo_server().await;
        for round in 0..200_u8 {
            let stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(&[round]).await.unwrap();
            let mut back = [0];
            stream.read_exact(&mut back).await.unwrap();
            assert_eq!(back, [round]);
        }
        over.store(true, SeqCst);
        floods.into_iter().for_each(|flood| flood.join().unwrap());
        // The socket that was flooded still works.
        let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let mut answer = [0; 8];
        loop {
            client.send_to(b"last", flooded).await.unwrap();
            let wait = windlass_runtime::timer::timeout(
                std::time::Duration::from_millis(100),
                client.recv_from(&mut answer),
            );
            if let Ok(result) = wait.await {
                assert_eq!(result.unwrap().0, 4);
                break;
            }
        }
        received.await.unwrap();
    });
}
