//! Listeners that are about to end: all that was queued can be had, and nothing comes after it.

#![cfg(target_os = "linux")]

mod common;

use std::io::ErrorKind;
use std::time::Duration;

use common::run;
use windlass_net::unix::{UnixListener, UnixStream};
use windlass_net::{TcpListener, TcpStream};
use windlass_runtime::timer::timeout;

#[test]
fn a_tcp_listener_keeps_its_queue_and_lets_nobody_in() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut queued = Vec::new();
        for _ in 0..10 {
            queued.push(TcpStream::connect(address).await.unwrap());
        }
        assert!(listener.refuse_new().unwrap());
        // Nobody answers; whether for good can't be waited for.
        let late = timeout(Duration::from_millis(100), TcpStream::connect(address)).await;
        assert!(late.is_err());
        for client in &queued {
            let (server, peer) = listener.accept().await.unwrap();
            assert_eq!(peer, client.local_addr().unwrap());
            server.write_all(b"served").await.unwrap();
            client.read_exact(&mut [0; 6]).await.unwrap();
        }
        assert_eq!(listener.try_accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(listener);
        let refused = TcpStream::connect(address).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn a_local_listener_keeps_its_queue_and_refuses() {
    run(|| async {
        let path = std::env::temp_dir().join(format!("windlass-refuse-{}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let client = UnixStream::connect(&path).await.unwrap();
        assert!(listener.refuse_new().unwrap());
        let refused = UnixStream::connect(&path).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let (server, _) = listener.accept().await.unwrap();
        server.write_all(b"served").await.unwrap();
        client.read_exact(&mut [0; 6]).await.unwrap();
        assert_eq!(listener.try_accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        std::fs::remove_file(&path).unwrap();
    });
}
