//! TCP as it is meant to be used.

mod common;

use std::future::Future;
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::Shutdown;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use common::{both, echo_server, poll_once, run, tcp_pair, within_deadline};
use futures_core::Stream;
use windlass_net::{Keepalive, OsEvent, TcpListener, TcpSocket, TcpStream};
use windlass_runtime::{Builder, spawn};

#[test]
fn echo() {
    run(|| async {
        let address = echo_server().await;
        let mut clients = Vec::new();
        for client in 0..20_u8 {
            clients.push(spawn(async move {
                let stream = TcpStream::connect(address).await.unwrap();
                for round in 0..50_u8 {
                    let message = [client, round, client ^ round];
                    stream.write_all(&message).await.unwrap();
                    let mut back = [0; 3];
                    stream.read_exact(&mut back).await.unwrap();
                    assert_eq!(back, message);
                }
            }));
        }
        for client in clients {
            client.await.unwrap();
        }
    });
}

#[test]
fn one_task_reads_while_another_writes() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let b = spawn(common::echo(b));
        let a = Arc::new(a);
        let writer = spawn({
            let a = a.clone();
            async move {
                a.write_all(&common::pattern(4 << 20)).await.unwrap();
                a.shutdown(Shutdown::Write).unwrap();
            }
        });
        let mut got = Vec::new();
        a.read_to_end(&mut got).await.unwrap();
        assert!(got == common::pattern(4 << 20));
        writer.await.unwrap();
        b.await.unwrap().unwrap();
    });
}

#[test]
fn borrowed_halves() {
    run(|| async {
        let (mut a, b) = tcp_pair().await;
        drop(spawn(common::echo(b)));
        let (reader, writer) = a.split();
        let mut back = [0; 5];
        let (sent, got) = both(writer.write_all(b"split"), reader.read_exact(&mut back)).await;
        sent.unwrap();
        got.unwrap();
        assert_eq!(&back, b"split");
        assert_eq!(reader.as_ref().local_addr().unwrap(), writer.as_ref().local_addr().unwrap());
        a.write_all(b"whole").await.unwrap();
    });
}

#[test]
fn owned_halves_reunite_and_strangers_do_not() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let (a_reader, a_writer) = a.into_split();
        let (b_reader, b_writer) = b.into_split();
        let error = a_reader.reunite(b_writer).unwrap_err();
        assert!(error.to_string().contains("different streams"));
        let (a_reader, b_writer) = (error.0, error.1);
        let a = a_writer.reunite(a_reader).unwrap();
        let b = b_reader.reunite(b_writer).unwrap();
        // Neither taking apart nor putting together has ended a direction.
        a.write_all(b"x").await.unwrap();
        b.write_all(b"y").await.unwrap();
        b.read_exact(&mut [0]).await.unwrap();
        a.read_exact(&mut [0]).await.unwrap();
    });
}

#[test]
fn dropping_the_writing_half_ends_its_direction_unless_forgotten() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let (a_reader, a_writer) = a.into_split();
        drop(a_writer);
        assert_eq!(b.read(&mut [0]).await.unwrap(), 0);
        b.write_all(b"x").await.unwrap();
        a_reader.read_exact(&mut [0]).await.unwrap();

        let (a, b) = tcp_pair().await;
        let (_a_reader, a_writer) = a.into_split();
        a_writer.forget();
        let mut buf = [0];
        let mut read = Box::pin(b.read(&mut buf));
        assert!(poll_once(&mut read).await.is_none());
    });
}

#[test]
fn peek_leaves_what_it_saw() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        a.write_all(b"seen").await.unwrap();
        let mut buf = [0; 8];
        assert_eq!(b.peek(&mut buf[..2]).await.unwrap(), 2);
        assert_eq!(b.peek(&mut buf[..0]).await.unwrap(), 0);
        b.read_exact(&mut buf[..4]).await.unwrap();
        assert_eq!(&buf[..4], b"seen");
    });
}

#[test]
fn trying_does_not_wait_and_readable_does() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let mut buf = [0; 4];
        assert_eq!(b.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        let mut readable = Box::pin(b.readable());
        assert!(poll_once(&mut readable).await.is_none());
        assert_eq!(a.try_write(b"now").unwrap(), 3);
        readable.await.unwrap();
        assert_eq!(b.try_read(&mut buf).unwrap(), 3);
        a.writable().await.unwrap();
    });
}

#[test]
fn incoming_is_a_stream() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut incoming = listener.incoming();
        let mut next = Box::pin(std::future::poll_fn(|cx| Pin::new(&mut incoming).poll_next(cx)));
        assert!(poll_once(&mut next).await.is_none());
        let first = TcpStream::connect(address).await.unwrap();
        let accepted = next.await.unwrap().unwrap();
        assert_eq!(accepted.peer_addr().unwrap(), first.local_addr().unwrap());
        let second = TcpStream::connect(address).await.unwrap();
        let accepted = listener.incoming().next().await.unwrap().unwrap();
        assert_eq!(accepted.peer_addr().unwrap(), second.local_addr().unwrap());
        assert_eq!(listener.try_accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn a_blocking_socket_of_std_is_made_non_blocking() {
    run(|| async {
        let std_listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = std_listener.local_addr().unwrap();
        let listener = TcpListener::from_std(std_listener).unwrap();
        assert_eq!(listener.try_accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        let client = TcpStream::try_from(std::net::TcpStream::connect(address).unwrap()).unwrap();
        let (server, _) = listener.accept().await.unwrap();
        assert_eq!(client.try_read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);

        // And back: it stays so until told otherwise.
        let mut server = server.into_std().unwrap();
        assert_eq!(server.read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        server.set_nonblocking(false).unwrap();
        client.write_all(b"x").await.unwrap();
        server.read_exact(&mut [0]).unwrap();
        server.write_all(b"y").unwrap();
        client.read_exact(&mut [0]).await.unwrap();
        // A socket can be registered again after it was given back.
        let again = TcpStream::from_std(client.into_std().unwrap()).unwrap();
        again.write_all(b"z").await.unwrap();
    });
}

#[test]
fn keepalive_keeps_what_was_set() {
    run(|| async {
        let (stream, _peer) = tcp_pair().await;
        assert_eq!(stream.keepalive().unwrap(), None);
        let keepalive = Keepalive::new()
            .idle(Duration::from_secs(30))
            .interval(Duration::from_millis(1500))
            .retries(3);
        stream.set_keepalive(Some(keepalive)).unwrap();
        let expected = keepalive.interval(Duration::from_secs(2));
        assert_eq!(stream.keepalive().unwrap(), Some(expected));
        stream.set_keepalive(None).unwrap();
        assert_eq!(stream.keepalive().unwrap(), None);
    });
}

#[test]
fn options_keep_what_was_set() {
    run(|| async {
        let socket = TcpSocket::new_v4().unwrap();
        assert!(!socket.reuse_address().unwrap());
        socket.set_reuse_address(true).unwrap();
        assert!(socket.reuse_address().unwrap());
        #[cfg(unix)]
        socket.set_reuse_port(true).unwrap();
        #[cfg(unix)]
        assert!(socket.reuse_port().unwrap());
        socket.set_send_buffer_size(50_000).unwrap();
        assert!(socket.send_buffer_size().unwrap() >= 50_000);
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = socket.local_addr().unwrap();
        let listener = socket.listen(8).unwrap();

        #[cfg(unix)]
        {
            let other = TcpSocket::new_v4().unwrap();
            other.set_reuse_port(true).unwrap();
            other.bind(address).unwrap();
        }

        let stream = TcpSocket::new_v4().unwrap().connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        assert!(stream.nodelay().unwrap());
        stream.set_ttl(7).unwrap();
        assert_eq!(stream.ttl().unwrap(), 7);
        assert_eq!(stream.linger().unwrap(), None);
        stream.set_linger(Some(Duration::from_secs(3))).unwrap();
        assert_eq!(stream.linger().unwrap(), Some(Duration::from_secs(3)));
        // Zero would be a reset.
        stream.set_linger(Some(Duration::from_millis(900))).unwrap();
        assert_eq!(stream.linger().unwrap(), Some(Duration::from_secs(1)));
        stream.set_linger(None).unwrap();
        assert!(stream.take_error().unwrap().is_none());
        listener.set_ttl(9).unwrap();
        assert_eq!(listener.ttl().unwrap(), 9);
    });
}

/// Neither a socket that always has something nor an event that is always set holds a worker.
#[test]
fn what_is_always_ready_lets_others_run() {
    within_deadline(|| {
        let runtime = Builder::new().workers(1).max_spares(0).build().unwrap();
        let (a, b) = runtime.block_on(tcp_pair());
        runtime.block_on(a.write_all(b"x")).unwrap();
        let readable = runtime.spawn(async move {
            loop {
                b.readable().await.unwrap();
            }
        });
        runtime.block_on(runtime.spawn(async {})).unwrap();
        readable.abort();
        let event = OsEvent::new(false).unwrap();
        let set = runtime.spawn(async move {
            loop {
                event.set().unwrap();
                event.wait().await.unwrap();
            }
        });
        runtime.block_on(runtime.spawn(async {})).unwrap();
        set.abort();
    });
}

#[test]
fn connect_tries_each_address() {
    run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let good = listener.local_addr().unwrap();
        let (_held, bad) = common::refusing();
        let stream = TcpStream::connect(&[bad, good][..]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), good);
        let error = TcpStream::connect(&[bad, bad][..]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = TcpStream::connect(Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn version_six() {
    run(|| async {
        let Ok(listener) = TcpListener::bind("[::1]:0").await else { return };
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (_, peer) = listener.accept().await.unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
    });
}

#[test]
fn the_traits_of_futures_io() {
    use futures_io::{AsyncRead, AsyncWrite};
    use std::future::poll_fn;
    run(|| async {
        let (a, b) = tcp_pair().await;
        let mut writer = &a;
        let parts = [IoSlice::new(b"by "), IoSlice::new(b"trait")];
        let n = poll_fn(|cx| Pin::new(&mut writer).poll_write_vectored(cx, &parts)).await.unwrap();
        assert_eq!(n, 8);
        poll_fn(|cx| Pin::new(&mut writer).poll_flush(cx)).await.unwrap();
        poll_fn(|cx| Pin::new(&mut writer).poll_close(cx)).await.unwrap();
        let (mut reader, mut b_writer) = b.into_split();
        let mut got = [0; 16];
        let mut len = 0;
        loop {
            let rest = &mut got[len..];
            match poll_fn(|cx| Pin::new(&mut reader).poll_read(cx, rest)).await.unwrap() {
                0 => break,
                n => len += n,
            }
        }
        assert_eq!(&got[..len], b"by trait");
        poll_fn(|cx| Pin::new(&mut b_writer).poll_write(cx, b"ok")).await.unwrap();
        let mut owned = a;
        poll_fn(|cx| Pin::new(&mut owned).poll_read(cx, &mut got)).await.unwrap();
        assert_eq!(&got[..2], b"ok");
    });
}

#[test]
fn debug_shows_the_addresses() {
    run(|| async {
        let (a, _b) = tcp_pair().await;
        let text = format!("{a:?}");
        assert!(text.contains(&a.local_addr().unwrap().to_string()), "{text}");
    });
}

/// Nobody looks at the OS meanwhile.
#[test]
fn an_accepted_connection_is_known_to_be_writable() {
    let tasks = Builder::new().build_manual().unwrap();
    let _entered = tasks.handle().enter();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready(accepted) = pin!(listener.accept()).poll(&mut cx) else {
        panic!("the connection is there");
    };
    let (server, _) = accepted.unwrap();
    assert!(pin!(server.writable()).poll(&mut cx).is_ready());
    assert!(pin!(server.readable()).poll(&mut cx).is_pending());
}
