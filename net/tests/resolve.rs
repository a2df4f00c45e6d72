//! Names and addresses.

mod common;

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use common::{poll_once, run};
use windlass_net::{Lookup, TcpListener, TcpStream, ToSocketAddrs, UdpSocket, resolve};

async fn all(host: impl ToSocketAddrs) -> Vec<SocketAddr> {
    resolve(host).await.unwrap().collect()
}

#[test]
fn numbers_resolve_at_once() {
    run(|| async {
        let mut resolving = Box::pin(resolve("127.0.0.1:80"));
        let addresses = poll_once(&mut resolving).await.expect("needed no thread").unwrap();
        assert_eq!(format!("{addresses:?}"), "[127.0.0.1:80]");
    });
}

#[test]
fn whatever_std_takes() {
    run(|| async {
        let v4: SocketAddr = "127.0.0.1:80".parse().unwrap();
        let v6: SocketAddr = "[::1]:80".parse().unwrap();
        assert_eq!(all(v4).await, [v4]);
        assert_eq!(all((Ipv4Addr::LOCALHOST, 80)).await, [v4]);
        assert_eq!(all((IpAddr::from(Ipv6Addr::LOCALHOST), 80)).await, [v6]);
        assert_eq!(all((Ipv6Addr::LOCALHOST, 80)).await, [v6]);
        assert_eq!(all("[::1]:80").await, [v6]);
        assert_eq!(all(String::from("127.0.0.1:80")).await, [v4]);
        assert_eq!(all(&String::from("127.0.0.1:80")).await, [v4]);
        assert_eq!(all(("127.0.0.1", 80)).await, [v4]);
        assert_eq!(all((String::from("::1"), 80)).await, [v6]);
        assert_eq!(all(&[v4, v6][..]).await, [v4, v6]);
        assert_eq!(all([v6, v4]).await, [v6, v4]);
        assert_eq!(all(&vec![v4]).await, [v4]);
    });
}

#[test]
fn a_host_needs_no_port_to_be_looked_up() {
    run(|| async {
        for host in ["127.0.0.1", "::1"] {
            let expected = [SocketAddr::new(host.parse().unwrap(), 0)];
            assert_eq!(all(host).await, expected);
            assert_eq!(all(&String::from(host)).await, expected);
        }
        let addresses = all("localhost").await;
        assert!(!addresses.is_empty() && addresses.iter().all(|a| a.ip().is_loopback()));
        assert_eq!(resolve("").await.unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(resolve("localhost:").await.unwrap_err().kind(), ErrorKind::InvalidInput);
        // What is connected or sent to needs one.
        let error = TcpStream::connect("localhost").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let error = socket.send_to(b"", "localhost").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

/// A type of a program's own.
struct Service;

impl ToSocketAddrs for Service {
    fn lookup(&self) -> std::io::Result<Lookup> {
        Ok(Lookup::host("localhost", 80))
    }
}

#[test]
fn names_resolve_on_the_blocking_pool() {
    run(|| async {
        assert!(all("localhost:80").await.iter().all(|address| address.ip().is_loopback()));
        assert!(!all(Service).await.is_empty());
        let listener = TcpListener::bind("localhost:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        TcpStream::connect(("localhost", port)).await.unwrap();
    });
}

#[test]
fn names_that_do_not_resolve() {
    run(|| async {
        // `.invalid` is reserved: no resolver knows names below it.
        resolve("no-such-host.invalid:80").await.unwrap_err();
        TcpStream::connect("no-such-host.invalid:80").await.unwrap_err();
        resolve(("a name with spaces", 80)).await.unwrap_err();
        resolve(("nul\0inside", 80)).await.unwrap_err();
        let error = TcpListener::bind("no port").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn a_dropped_look_up_holds_nobody_up() {
    run(|| async {
        for _ in 0..10 {
            let mut resolving = Box::pin(resolve("localhost:80"));
            // Its thread may be quicker than the drop.
            let _ = poll_once(&mut resolving).await;
        }
        assert!(!all("localhost:80").await.is_empty());
    });
}
