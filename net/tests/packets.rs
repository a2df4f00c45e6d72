//! Options of sockets, by the names that tokio's users look for.

mod common;

use std::future::poll_fn;
use std::io::ErrorKind;

use common::run;
use windlass_net::{TcpListener, TcpStream};

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

#[test]
fn a_peek_for_poll_functions_leaves_the_bytes_where_they_are() {
    run(|| async {
        let (client, server) = pair().await;
        client.write_all(b"hello").await.unwrap();
        let mut buf = [0; 16];
        assert_eq!(poll_fn(|cx| server.poll_peek(cx, &mut [])).await.unwrap(), 0);
        assert_eq!(poll_fn(|cx| server.poll_peek(cx, &mut buf)).await.unwrap(), 5);
        assert_eq!(server.read(&mut buf).await.unwrap(), 5);
    });
}

#[test]
fn a_connection_that_does_not_linger_is_reset() {
    run(|| async {
        let (client, server) = pair().await;
        client.set_zero_linger().unwrap();
        drop(client);
        let error = server.read(&mut [0]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[cfg(unix)]
#[test]
fn a_socket_that_was_made_elsewhere_connects() {
    use std::os::fd::OwnedFd;

    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let made = OwnedFd::from(windlass_net::TcpSocket::new_v4().unwrap());
        std::net::TcpStream::from(made.try_clone().unwrap()).set_nonblocking(false).unwrap();
        let socket = windlass_net::TcpSocket::from_std_stream(made.into()).unwrap();
        let address = listener.local_addr().unwrap();
        let client = socket.connect(address).await.unwrap();
        let error = client.try_read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn options_of_packets() {
    run(|| async {
        let (tcp, udp) = (
            windlass_net::TcpSocket::new_v4().unwrap(),
            windlass_net::UdpSocket::bind("127.0.0.1:0").await.unwrap(),
        );
        tcp.set_tos_v4(0x10).unwrap();
        udp.set_tos_v4(0x08).unwrap();
        assert_eq!((tcp.tos_v4().unwrap(), udp.tos_v4().unwrap()), (0x10, 0x08));
        assert_eq!(tcp.set_tos_v4(u32::MAX).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!((tcp.device().unwrap(), udp.device().unwrap()), (None, None));
        // A sandbox may refuse it.
        if tcp.bind_device(Some(b"lo")).is_ok() {
            assert_eq!(tcp.device().unwrap().as_deref(), Some(&b"lo"[..]));
        }
        assert!(udp.bind_device(Some(b"windlass-none")).is_err());
        let (client, _server) = pair().await;
        client.set_quickack(false).unwrap();
        assert!(!client.quickack().unwrap());
        client.set_quickack(true).unwrap();
        assert!(client.quickack().unwrap());
    });
}
