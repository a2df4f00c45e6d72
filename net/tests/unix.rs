//! Local sockets and pipes as they are meant to be used.
#![cfg(unix)]

mod common;

use std::future::Future;
use std::io::{self, ErrorKind, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use common::{both, os, poll_once, run};
use windlass_net::unix::{UnixDatagram, UnixListener, UnixStream, pipe, pipe::Receiver};
use windlass_runtime::spawn;

/// A path that is removed at the end.
struct TempPath(PathBuf);

impl TempPath {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("windlass-{}-{name}", std::process::id())))
    }
}

impl Drop for TempPath {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn echo() {
    run(|| async {
        let path = TempPath::new("echo");
        let listener = UnixListener::bind(&path.0).unwrap();
        let server = spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut buf = [0; 64];
            loop {
                match stream.read(&mut buf).await.unwrap() {
                    0 => break,
                    n => stream.write_all(&buf[..n]).await.unwrap(),
                }
            }
        });
        let client = UnixStream::connect(&path.0).await.unwrap();
        for _ in 0..100 {
            client.write_all(b"local").await.unwrap();
            let mut back = [0; 5];
            client.read_exact(&mut back).await.unwrap();
            assert_eq!(&back, b"local");
        }
        assert_eq!(client.peer_addr().unwrap().as_pathname(), Some(path.0.as_path()));
        drop(client);
        server.await.unwrap();
    });
}

#[test]
fn incoming_connections_and_who_they_come_from() {
    run(|| async {
        let path = TempPath::new("incoming");
        let listener = UnixListener::bind(&path.0).unwrap();
        let owner = std::fs::metadata(&path.0).unwrap().uid();
        let client = UnixStream::connect(&path.0).await.unwrap();
        let server = listener.incoming().next().await.unwrap().unwrap();
        client.write_all(b"x").await.unwrap();
        server.read_exact(&mut [0]).await.unwrap();
        let peer = server.peer_cred().unwrap();
        assert_eq!(peer.uid(), owner);
        if let Some(pid) = peer.pid() {
            assert_eq!(pid, std::process::id() as i32);
        }
    });
}

#[cfg(target_os = "linux")]
#[test]
fn abstract_names() {
    use std::os::linux::net::SocketAddrExt;
    use windlass_net::unix::SocketAddr;

    run(|| async {
        let name = format!("windlass-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name).unwrap();
        let listener = UnixListener::bind_addr(&address).unwrap();
        let client = UnixStream::connect_addr(&address).await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        client.write_all(b"x").await.unwrap();
        server.read_exact(&mut [0]).await.unwrap();
        assert_eq!(server.peer_cred().unwrap().pid(), Some(std::process::id() as i32));
    });
}

#[test]
fn errors_of_connect() {
    run(|| async {
        let path = TempPath::new("refused");
        let error = UnixStream::connect(&path.0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        drop(UnixListener::bind(&path.0).unwrap());
        let error = UnixStream::connect(&path.0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = UnixStream::connect("x".repeat(200)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let unnamed = UnixDatagram::unbound().unwrap().local_addr().unwrap();
        let error = UnixStream::connect_addr(&unnamed).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn halves_of_a_pair() {
    run(|| async {
        let (mut a, b) = UnixStream::pair().unwrap();
        {
            let (reader, writer) = a.split();
            writer.write_all(b"x").await.unwrap();
            b.write_all(b"y").await.unwrap();
            reader.read_exact(&mut [0]).await.unwrap();
            b.read_exact(&mut [0]).await.unwrap();
        }
        let (reader, writer) = a.into_split();
        let a = reader.reunite(writer).unwrap();
        a.shutdown(Shutdown::Write).unwrap();
        assert_eq!(b.read(&mut [0]).await.unwrap(), 0);
        let descriptor = OwnedFd::from(b);
        let b = UnixStream::try_from(descriptor).unwrap();
        b.write_all(b"z").await.unwrap();
        a.read_exact(&mut [0]).await.unwrap();
    });
}

/// A read stops where descriptors were passed, with more bytes behind them.
#[test]
fn a_read_cut_short_by_passed_descriptors_does_not_hide_what_follows() {
    run(|| async {
        let (a, b) = UnixStream::pair().unwrap();
        for _ in 0..50 {
            assert_eq!(b.try_read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
            common::os::send_with_descriptor(&a, b"with", &std::io::stderr().as_fd());
            a.write_all(b"without").await.unwrap();
            b.readable().await.unwrap();
            let mut got = [0; 64];
            let mut len = 0;
            while len < 11 {
                len += b.read(&mut got[len..]).await.unwrap();
            }
            assert_eq!(&got[..len], b"withwithout");
        }
    });
}

#[test]
fn datagrams() {
    run(|| async {
        let (a, b) = UnixDatagram::pair().unwrap();
        let mut buf = [0; 8];
        assert_eq!(b.try_recv(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        let (received, sent) = both(b.recv(&mut buf), a.send(b"whole")).await;
        assert_eq!((received.unwrap(), sent.unwrap()), (5, 5));

        let path = TempPath::new("datagram");
        let bound = UnixDatagram::bind(&path.0).unwrap();
        let unbound = UnixDatagram::unbound().unwrap();
        unbound.send_to(b"one", &path.0).await.unwrap();
        unbound.connect(&path.0).unwrap();
        unbound.send(b"two").await.unwrap();
        let (n, from) = bound.recv_from(&mut buf).await.unwrap();
        assert!(&buf[..n] == b"one" && from.is_unnamed());
        assert_eq!(bound.recv(&mut buf).await.unwrap(), 3);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn datagrams_between_abstract_names() {
    use std::os::linux::net::SocketAddrExt;
    use windlass_net::unix::SocketAddr;

    run(|| async {
        let name = |end| format!("windlass-datagrams-{end}-{}", std::process::id());
        let [a, b] = ["a", "b"].map(|end| SocketAddr::from_abstract_name(name(end)).unwrap());
        let (one, other) =
            (UnixDatagram::bind_addr(&a).unwrap(), UnixDatagram::bind_addr(&b).unwrap());
        one.send_to_addr(b"asked", &b).await.unwrap();
        let mut buf = [0; 8];
        let (n, from) = other.recv_from(&mut buf).await.unwrap();
        assert_eq!(&buf[..n], b"asked");
        other.connect_addr(&from).unwrap();
        other.send(b"answer").await.unwrap();
        assert_eq!(one.recv(&mut buf).await.unwrap(), 6);
    });
}

/// Of a receiver it is not connected to, the OS tells a socket nothing but that its own queue has room, over and
/// over.
#[test]
fn a_sender_that_waits_for_a_full_receiver_does_not_spin() {
    run(|| async {
        let path = TempPath::new("full");
        let receiver = UnixDatagram::bind(&path.0).unwrap();
        let sender = UnixDatagram::unbound().unwrap();
        while sender.try_send_to(b"x", &path.0).is_ok() {}
        let mut polls = 0;
        let mut send = Box::pin(sender.send_to(b"last", &path.0));
        let counted = std::future::poll_fn(|cx| {
            polls += 1;
            send.as_mut().poll(cx)
        });
        let waited = windlass_runtime::timer::timeout(Duration::from_millis(50), counted).await;
        assert!(waited.is_err(), "there is no room");
        assert!(polls < 100, "{polls} polls");
        let mut buf = [0; 8];
        let (n, sent) = both(receiver.recv(&mut buf), send).await;
        assert_eq!((n.unwrap(), sent.unwrap()), (1, 4));
    });
}

/// The OS reports that of a TCP connection only.
#[test]
fn ending_a_direction_wakes_who_waits_for_it_at_this_end() {
    run(|| async {
        let (a, _b) = UnixStream::pair().unwrap();
        while a.try_write(&[0; 4096]).is_ok() {}
        let mut write = Box::pin(a.write(b"x"));
        assert!(poll_once(&mut write).await.is_none(), "it is full");
        a.shutdown(Shutdown::Write).unwrap();
        assert_eq!(write.await.unwrap_err().kind(), ErrorKind::BrokenPipe);

        let (a, _b) = UnixDatagram::pair().unwrap();
        while a.try_send(b"x").is_ok() {}
        let mut send = Box::pin(a.send(b"x"));
        assert!(poll_once(&mut send).await.is_none(), "it is full");
        a.shutdown(Shutdown::Write).unwrap();
        assert!(send.await.is_err());
    });
}

/// Sending waits for the receiver to make room, and every datagram arrives.
#[test]
fn a_full_datagram_queue_makes_the_sender_wait() {
    run(|| async {
        let (a, b) = UnixDatagram::pair().unwrap();
        let sender = spawn(async move {
            for i in 0..2000_u32 {
                a.send(&i.to_ne_bytes()).await.unwrap();
            }
        });
        for i in 0..2000_u32 {
            let mut buf = [0; 4];
            b.recv(&mut buf).await.unwrap();
            assert_eq!(u32::from_ne_bytes(buf), i);
        }
        sender.await.unwrap();
    });
}

#[test]
fn pipes_carry_more_than_they_hold() {
    run(|| async {
        let (sender, receiver) = pipe().unwrap();
        let writer = spawn(async move { sender.write_all(&common::pattern(1 << 20)).await });
        let mut got = Vec::new();
        assert_eq!(receiver.read_to_end(&mut got).await.unwrap(), 1 << 20);
        assert!(got == common::pattern(1 << 20));
        writer.await.unwrap().unwrap();
    });
}

#[test]
fn a_pipe_wakes_each_end_when_the_other_goes() {
    run(|| async {
        let (sender, receiver) = pipe().unwrap();
        let mut buf = [0];
        let mut read = Box::pin(receiver.read(&mut buf));
        assert!(poll_once(&mut read).await.is_none());
        drop(sender);
        assert_eq!(read.await.unwrap(), 0);

        let (sender, receiver) = pipe().unwrap();
        while sender.try_write(&[0; 4096]).is_ok() {}
        let mut write = Box::pin(sender.write(b"x"));
        assert!(poll_once(&mut write).await.is_none());
        drop(receiver);
        assert_eq!(write.await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn the_output_of_a_child_process() {
    run(|| async {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "echo from the child"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let output = OwnedFd::from(child.stdout.take().unwrap());
        let receiver = Receiver::try_from(output).unwrap();
        let mut got = String::new().into_bytes();
        receiver.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, b"from the child\n");
        child.wait().unwrap();
    });
}

/// A FIFO, removed at the end.
fn fifo(name: &str) -> TempPath {
    let path = TempPath::new(name);
    let _ = std::fs::remove_file(&path.0);
    os::make_fifo(&path.0);
    path
}

/// The OS reads it as ended, but reports no end: nobody has begun.
#[test]
fn a_fifo_without_a_writer_is_waited_for() {
    run(|| async {
        let path = fifo("fifo");
        let receiver = Receiver::from_std(os::open_to_read(&path.0)).unwrap();
        let mut buf = [0; 16];
        assert_eq!(receiver.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        let bufs = &mut [std::io::IoSliceMut::new(&mut buf)];
        assert_eq!(receiver.try_read_vectored(bufs).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut reading = Box::pin(receiver.read(&mut buf));
        assert!(poll_once(&mut reading).await.is_none());
        let mut writer = std::fs::OpenOptions::new().write(true).open(&path.0).unwrap();
        writer.write_all(b"at last").unwrap();
        assert_eq!(reading.await.unwrap(), 7);
        assert_eq!(&buf[..7], b"at last");
        drop(writer);
        // Now it is the end, by the OS's own word.
        assert_eq!(receiver.read(&mut buf).await.unwrap(), 0);
        assert_eq!(receiver.try_read(&mut buf).unwrap(), 0);
    });
}

#[test]
fn a_fifo_whose_writer_has_come_and_gone_has_ended() {
    run(|| async {
        let path = fifo("fifo-ended");
        let file = os::open_to_read(&path.0);
        drop(std::fs::OpenOptions::new().write(true).open(&path.0).unwrap());
        let receiver = Receiver::from_std(file).unwrap();
        let mut all = Vec::new();
        assert_eq!(receiver.read_to_end(&mut all).await.unwrap(), 0);
    });
}

/// Nobody looks at the OS meanwhile.
#[test]
fn fresh_connections_are_known_to_be_writable() {
    let tasks = windlass_runtime::Builder::new().build_manual().unwrap();
    let _entered = tasks.handle().enter();
    let ready = |future: Pin<Box<dyn Future<Output = io::Result<()>> + '_>>| {
        let mut future = future;
        future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
    };

    let (a, b) = UnixStream::pair().unwrap();
    for end in [&a, &b] {
        assert!(ready(Box::pin(end.writable())));
        assert!(!ready(Box::pin(end.readable())));
        end.try_write(b"at once").unwrap();
    }
    let (a, b) = UnixDatagram::pair().unwrap();
    for end in [&a, &b] {
        assert!(ready(Box::pin(end.writable())));
        assert!(!ready(Box::pin(end.readable())));
        end.try_send(b"at once").unwrap();
    }
    let (sender, receiver) = pipe().unwrap();
    assert!(ready(Box::pin(sender.writable())));
    assert!(!ready(Box::pin(receiver.readable())));

    let path = TempPath::new("writable");
    let listener = UnixListener::bind(&path.0).unwrap();
    let client = wait_for(UnixStream::connect(&path.0)).unwrap();
    let (server, _) = wait_for(listener.accept()).unwrap();
    for end in [&client, &server] {
        assert!(ready(Box::pin(end.writable())));
        assert!(!ready(Box::pin(end.readable())));
    }
    // One that has no room left is not.
    while server.try_write(&[0; 4096]).is_ok() {}
    assert!(!ready(Box::pin(server.writable())));
}

fn wait_for<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it has to wait"),
    }
}
