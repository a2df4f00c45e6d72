//! UDP as it is meant to be used.

mod common;

use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::net::Ipv4Addr;
use std::sync::Arc;

use common::{poll_once, run};
use windlass_net::UdpSocket;
use windlass_runtime::spawn;

async fn socket() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").await.unwrap()
}

#[test]
fn echo() {
    run(|| async {
        let (server, client) = (socket().await, socket().await);
        let address = server.local_addr().unwrap();
        let echo = spawn(async move {
            let mut buf = [0; 1500];
            for _ in 0..100 {
                let (n, from) = server.recv_from(&mut buf).await.unwrap();
                server.send_to(&buf[..n], from).await.unwrap();
            }
        });
        client.connect(address).await.unwrap();
        assert_eq!(client.peer_addr().unwrap(), address);
        for round in 0..100_u8 {
            client.send(&vec![round; round.into()]).await.unwrap();
            let mut buf = [0; 1500];
            // Empty datagrams arrive, too.
            assert_eq!(client.recv(&mut buf).await.unwrap(), round.into());
            assert!(buf[..round.into()].iter().all(|byte| *byte == round));
        }
        echo.await.unwrap();
    });
}

#[test]
fn many_tasks_share_a_socket_and_each_datagram_goes_to_one() {
    run(|| async {
        let server = Arc::new(socket().await);
        let receivers: Vec<_> = (0..4)
            .map(|_| {
                let server = server.clone();
                spawn(async move {
                    let mut count = 0;
                    let mut buf = [0; 16];
                    while server.recv(&mut buf).await.unwrap() > 0 {
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        let client = socket().await;
        client.connect(server.local_addr().unwrap()).await.unwrap();
        for _ in 0..100 {
            client.send(b"x").await.unwrap();
        }
        for _ in 0..4 {
            client.send(b"").await.unwrap();
        }
        let mut total = 0;
        for receiver in receivers {
            total += receiver.await.unwrap();
        }
        assert_eq!(total, 100);
    });
}

#[test]
fn peeking_trying_and_truncating() {
    run(|| async {
        let (a, b) = (socket().await, socket().await);
        let mut buf = [0; 4];
        assert_eq!(b.try_recv(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut readable = Box::pin(b.readable());
        assert!(poll_once(&mut readable).await.is_none());
        a.try_send_to(b"longer than that", b.local_addr().unwrap()).unwrap();
        readable.await.unwrap();
        assert_eq!(b.peek_from(&mut buf).await.unwrap(), (4, a.local_addr().unwrap()));
        assert_eq!(b.try_peek(&mut buf[..2]).unwrap(), 2);
        assert_eq!(b.try_recv_from(&mut buf).unwrap(), (4, a.local_addr().unwrap()));
        assert_eq!(&buf, b"long");
        assert_eq!(b.try_recv(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn datagrams_are_received_into_memory_that_is_not_initialised() {
    run(|| async {
        let (a, b) = (socket().await, socket().await);
        let (from, to) = (a.local_addr().unwrap(), b.local_addr().unwrap());
        let mut buf = Vec::new();
        assert_eq!(b.try_recv_buf(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        // A vector without room gets enough for the largest, and what was in it stays.
        let mut buf = b"before ".to_vec();
        buf.shrink_to_fit();
        let large = vec![7; 65_000];
        a.send_to(&large, to).await.unwrap();
        assert_eq!(b.peek_sender().await.unwrap(), from);
        assert_eq!(b.try_peek_sender().unwrap(), from);
        assert_eq!(b.recv_buf_from(&mut buf).await.unwrap(), (large.len(), from));
        assert_eq!((&buf[..7], &buf[7..]), (&b"before "[..], &large[..]));

        // What does not fit is discarded, and so is nothing else. Empty ones arrive, too.
        let mut room = [MaybeUninit::uninit(); 4];
        for (sent, received) in [(&b"longer"[..], &b"long"[..]), (b"", b""), (b"last", b"last")] {
            a.send_to(sent, to).await.unwrap();
            let (bytes, sender) = b.recv_uninit_from(&mut room).await.unwrap();
            assert_eq!((&*bytes, sender), (received, from));
        }
        // A wait that is given up loses nothing.
        assert!(poll_once(&mut Box::pin(b.recv_uninit_from(&mut room))).await.is_none());
        a.send_to(b"kept", to).await.unwrap();
        b.readable().await.unwrap();
        let mut buf = Vec::with_capacity(2);
        assert_eq!(b.try_recv_buf_from(&mut buf).unwrap(), (buf.capacity().min(4), from));
        assert!(b"kept".starts_with(&buf));
    });
}

#[test]
fn nobody_listening_is_an_error_of_a_later_operation() {
    run(|| async {
        // The port is held by a socket that listens to itself alone.
        let deaf = socket().await;
        deaf.connect(deaf.local_addr().unwrap()).await.unwrap();
        let client = socket().await;
        client.connect(deaf.local_addr().unwrap()).await.unwrap();
        client.send(b"anyone?").await.unwrap();
        let error = client.recv(&mut [0]).await.unwrap_err();
        let expected =
            if cfg!(windows) { ErrorKind::ConnectionReset } else { ErrorKind::ConnectionRefused };
        assert_eq!(error.kind(), expected);
    });
}

#[test]
fn options_keep_what_was_set() {
    run(|| async {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        socket.set_broadcast(true).unwrap();
        assert!(socket.broadcast().unwrap());
        socket.set_ttl(5).unwrap();
        assert_eq!(socket.ttl().unwrap(), 5);
        socket.set_multicast_loop_v4(true).unwrap();
        assert!(socket.multicast_loop_v4().unwrap());
        socket.set_multicast_ttl_v4(2).unwrap();
        assert_eq!(socket.multicast_ttl_v4().unwrap(), 2);
        socket.set_recv_buffer_size(30_000).unwrap();
        assert!(socket.recv_buffer_size().unwrap() >= 30_000);
        assert!(socket.take_error().unwrap().is_none());
        let error = socket.send_to(b"x", Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn a_group_on_the_loopback_interface() {
    run(|| async {
        let group = Ipv4Addr::new(239, 1, 2, 3);
        let receiver = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        receiver.join_multicast_v4(group, Ipv4Addr::LOCALHOST).unwrap();
        receiver.leave_multicast_v4(group, Ipv4Addr::LOCALHOST).unwrap();
        // Left already.
        assert!(receiver.leave_multicast_v4(group, Ipv4Addr::LOCALHOST).is_err());
    });
}
