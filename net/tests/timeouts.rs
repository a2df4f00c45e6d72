//! Waiting for readiness with a time-out.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener as StdListener, TcpStream as StdTcp, UdpSocket as StdUdp};
use std::time::{Duration, Instant};

use windlass_net::{Async, TcpListener, TcpStream, UdpSocket};
use windlass_runtime::timer::FutureExt;

const SHORT: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(60);

macro_rules! times_out {
    ($io:expr, $read:expr) => {{
        // Before the first try as well as after it.
        let error = $io.readable_timeout(SHORT).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!($read.unwrap_err().kind(), ErrorKind::WouldBlock);
        let start = Instant::now();
        let error = $io.readable_timeout(SHORT).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert!(start.elapsed() >= SHORT);
        $io.writable_timeout(LONG).await.unwrap();
    }};
}

#[test]
fn waiting_ends_when_the_time_is_over_or_when_something_comes() {
    windlass_runtime::block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        assert_eq!(listener.try_accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        let error = listener.readable_timeout(SHORT).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        listener.readable_timeout(LONG).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 8];
        times_out!(client, client.try_read(&mut buffer));
        server.write_all(b"x").await.unwrap();
        client.readable_timeout(LONG).await.unwrap();

        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        times_out!(udp, udp.try_recv_from(&mut buffer));
        let other = StdUdp::bind("127.0.0.1:0").unwrap();
        other.send_to(b"x", udp.local_addr().unwrap()).unwrap();
        udp.readable_timeout(LONG).await.unwrap();

        // A socket that this crate has not made.
        let listener = StdListener::bind("127.0.0.1:0").unwrap();
        let ours = StdTcp::connect(listener.local_addr().unwrap()).unwrap();
        let (mut theirs, _) = listener.accept().unwrap();
        let ours = Async::new(ours).unwrap();
        times_out!(ours, ours.try_read_with(|mut io| io.read(&mut buffer)));
        theirs.write_all(b"x").unwrap();
        ours.readable_timeout(LONG).await.unwrap();
        assert_eq!(ours.read_with(|mut io| io.read(&mut buffer)).await.unwrap(), 1);
    });
}

#[cfg(unix)]
#[test]
fn waiting_for_local_sockets_ends_when_the_time_is_over() {
    use windlass_net::unix::{UnixDatagram, UnixStream};

    windlass_runtime::block_on(async {
        let mut buffer = [0; 8];
        let (one, _two) = UnixStream::pair().unwrap();
        times_out!(one, one.try_read(&mut buffer));
        let (one, _two) = UnixDatagram::pair().unwrap();
        times_out!(one, one.try_recv(&mut buffer));
    });
}

#[test]
fn a_time_out_of_an_operation_loses_no_byte() {
    windlass_runtime::block_on(async {
        let (one, two) = common::tcp_pair().await;
        let mut buffer = [0; 16];
        for _ in 0..20 {
            assert!(one.read(&mut buffer).timeout(Duration::from_micros(100)).await.is_err());
        }
        two.write_all(b"hello").await.unwrap();
        let read = one.read(&mut buffer).timeout(LONG).await.unwrap().unwrap();
        assert_eq!(&buffer[..read], b"hello");
    });
}
