//! Datagrams to receivers that the socket is not connected to.
#![cfg(unix)]

mod common;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use common::run;
use windlass_net::unix::{SocketAddr, UnixDatagram};

/// A path for a socket, removed in the end.
struct TempPath(PathBuf);

impl TempPath {
    fn new(name: &str) -> Self {
        let name = format!("windlass-{}-datagram-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for TempPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Sends until the receiver at this path has no room.
fn fill(path: &Path) {
    let filler = UnixDatagram::unbound().unwrap();
    let full = (0..100_000).find_map(|_| filler.try_send_to(b"x", path).err());
    assert_eq!(full.unwrap().kind(), ErrorKind::WouldBlock);
}

/// A refusal clears the readiness to write. Each datagram that was refused is followed by an event, because it has left
/// the sender's buffer.
#[test]
fn a_full_receiver_says_nothing_about_the_peer() {
    run(|| async {
        let (peers, others) = (TempPath::new("peer"), TempPath::new("other"));
        let peer = UnixDatagram::bind(&peers.0).unwrap();
        let _other = UnixDatagram::bind(&others.0).unwrap();
        let sender = UnixDatagram::unbound().unwrap();
        sender.connect(&peers.0).unwrap();
        fill(&others.0);

        // Several times, so that the events of registering and connecting are used up.
        for _ in 0..100 {
            let refused = sender.try_send_to(b"lost", &others.0).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::WouldBlock);
            sender.writable().await.unwrap();
        }
        assert_eq!(sender.send(b"y").await.unwrap(), 1);
        assert_eq!(peer.recv(&mut [0; 4]).await.unwrap(), 1);
    });
}

#[test]
fn an_address_is_tried_like_a_path() {
    run(|| async {
        let path = TempPath::new("address");
        let receiver = UnixDatagram::bind(&path.0).unwrap();
        let sender = UnixDatagram::unbound().unwrap();
        let address = SocketAddr::from_pathname(&path.0).unwrap();
        assert_eq!(sender.try_send_to_addr(b"first", &address).unwrap(), 5);
        assert_eq!(receiver.recv(&mut [0; 8]).await.unwrap(), 5);
        fill(&path.0);
        let refused = sender.try_send_to_addr(b"last", &address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::WouldBlock);
    });
}
