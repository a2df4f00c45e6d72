//! Signals, in a process of their own: a storm of them, and SIGPIPE at its default.
#![cfg(unix)]

mod common;

use std::io::{ErrorKind, IoSlice};
use std::time::Duration;

use common::{os, run, tcp_pair};
use windlass_net::unix::{UnixDatagram, UnixStream};
use windlass_net::{OsEvent, TcpStream, UdpSocket};
use windlass_runtime::spawn;

#[test]
fn interrupted_calls_are_no_errors() {
    run(|| async {
        let address = common::echo_server().await;
        os::start_signal_storm();
        let clients: Vec<_> = (0..4_u8)
            .map(|client| {
                spawn(async move {
                    for round in 0..200_u8 {
                        let stream = TcpStream::connect(address).await.unwrap();
                        for _ in 0..10 {
                            stream.write_all(&[client, round]).await.unwrap();
                            let mut back = [0; 2];
                            stream.read_exact(&mut back).await.unwrap();
                            assert_eq!(back, [client, round]);
                        }
                    }
                })
            })
            .collect();
        let blocked = std::thread::spawn(|| {
            let event = OsEvent::new(false).unwrap();
            // Begun anew after each signal, this would never end.
            assert!(!event.wait_timeout(Duration::from_millis(50)).unwrap());
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(50));
                    event.set().unwrap();
                });
                event.wait_blocking().unwrap();
            });
        });
        for client in clients {
            client.await.unwrap();
        }
        blocked.join().unwrap();
        os::stop_signal_storm();
    });
}

/// Were a signal raised, the process would end here.
#[test]
fn writing_to_a_socket_whose_peer_has_gone_raises_no_signal() {
    os::restore_sigpipe();
    run(|| async {
        let parts = [IoSlice::new(b"a"), IoSlice::new(b"b")];
        let (a, b) = tcp_pair().await;
        drop(b);
        // The first may still go out; the answer to it is the reset.
        let error = loop {
            if let Err(error) = a.write(b"x").await {
                break error;
            }
        };
        assert!(matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset));
        assert_eq!(a.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(a.write_vectored(&parts).await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(a.try_write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);

        let (a, b) = UnixStream::pair().unwrap();
        drop(b);
        assert_eq!(a.write_all(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        assert_eq!(a.write_vectored(&parts).await.unwrap_err().kind(), ErrorKind::BrokenPipe);

        let (a, b) = UnixDatagram::pair().unwrap();
        drop(b);
        assert!(a.send(b"x").await.is_err());

        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        assert!(udp.send(b"not connected").await.is_err());
    });
}
