//! Local sockets that are bound by hand before they listen, connect or send.
#![cfg(unix)]

mod common;

use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use common::run;
use windlass_net::unix::{SocketAddr, UnixDatagram, UnixSocket, UnixStream};

/// A path for a socket, removed in the end.
struct TempPath(PathBuf);

impl TempPath {
    fn new(name: &str) -> Self {
        let name = format!("windlass-{}-socket-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for TempPath {
    fn drop(&mut self) {
        // It may never have been bound.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_bound_socket_listens_and_a_bound_client_is_known_by_its_name() {
    run(|| async {
        let (path, name) = (TempPath::new("listen"), TempPath::new("client"));
        let socket = UnixSocket::new_stream().unwrap();
        assert!(socket.as_raw_fd() >= 0);
        socket.bind(&path.0).unwrap();
        let listener = socket.listen(16).unwrap();
        let client = UnixSocket::new_stream().unwrap();
        client.bind_addr(&SocketAddr::from_pathname(&name.0).unwrap()).unwrap();
        let client = client.connect(&path.0).await.unwrap();
        let (server, peer) = listener.accept().await.unwrap();
        assert_eq!(peer.as_pathname(), Some(&*name.0));
        client.write_all(b"hello").await.unwrap();
        let mut bytes = [0; 5];
        server.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"hello");
    });
}

#[test]
fn the_queue_has_the_length_that_was_asked_for() {
    run(|| async {
        let path = TempPath::new("queue");
        let socket = UnixSocket::new_stream().unwrap();
        socket.bind(&path.0).unwrap();
        let listener = socket.listen(1).unwrap();
        let mut clients = Vec::new();
        // Systems round it up by a few, and none takes hundreds.
        let full = loop {
            match UnixStream::connect(&path.0).await {
                Ok(client) => clients.push(client),
                Err(error) => break error,
            }
            assert!(clients.len() < 100, "the queue has no end");
        };
        assert!(
            matches!(full.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused),
            "{full}"
        );
        drop(listener);
    });
}

#[test]
fn a_socket_for_datagrams_sends_and_receives() {
    run(|| async {
        let path = TempPath::new("datagrams");
        let socket = UnixSocket::new_datagram().unwrap();
        socket.bind(&path.0).unwrap();
        let receiver = socket.datagram().unwrap();
        let sender: UnixDatagram = UnixSocket::new_datagram().unwrap().datagram().unwrap();
        sender.send_to(b"hello", &path.0).await.unwrap();
        let mut bytes = [0; 16];
        assert_eq!(receiver.recv(&mut bytes).await.unwrap(), 5);
    });
}

#[test]
fn the_wrong_kind_is_refused_with_advice() {
    run(|| async {
        let path = TempPath::new("kind");
        let datagrams = || UnixSocket::new_datagram().unwrap();
        let errors = [
            UnixSocket::new_stream().unwrap().datagram().map(drop),
            datagrams().listen(1).map(drop),
            datagrams().connect(&path.0).await.map(drop),
        ];
        for error in errors {
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.to_string().contains("use `new_"), "{error}");
        }
        let missing = UnixSocket::new_stream().unwrap().connect(&path.0).await;
        assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
    });
}
