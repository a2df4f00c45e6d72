//! Readiness by hand: poll functions, and operations of the program's own.

mod common;

use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind, Read, Write};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use common::{DEADLINE, poll_once, run, runtime, tcp_pair};
use windlass_net::{Interest, TcpListener, TcpStream, UdpSocket};
use windlass_runtime::{is_shutdown_error, spawn};

#[test]
fn poll_functions_wait_for_each_direction() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        poll_fn(|cx| a.poll_writable(cx)).await.unwrap();
        let mut readable = Box::pin(poll_fn(|cx| a.poll_readable(cx)));
        assert!(poll_once(&mut readable).await.is_none());
        b.write_all(b"x").await.unwrap();
        readable.await.unwrap();
        assert_eq!(a.try_read(&mut [0; 4]).unwrap(), 1);
        // What was there has been taken.
        assert_eq!(a.try_read(&mut [0; 4]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(poll_once(&mut Box::pin(poll_fn(|cx| a.poll_readable(cx)))).await.is_none());
    });
}

#[test]
fn an_operation_of_ones_own_waits_and_is_tried_again() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let a = a.into_std().unwrap();
        let by_hand = a.try_clone().unwrap();
        let a = TcpStream::from_std(a).unwrap();
        let mut tries = 0;
        let mut buf = [0; 16];
        let mut reading = Box::pin(a.async_io(Interest::READABLE, || {
            tries += 1;
            (&by_hand).read(&mut buf)
        }));
        assert!(poll_once(&mut reading).await.is_none());
        b.write_all(b"by hand").await.unwrap();
        assert_eq!(reading.await.unwrap(), 7);
        assert!(tries >= 2, "once in vain, and once when there was something");
        assert_eq!(&buf[..7], b"by hand");

        let write = || (&by_hand).write(b"back");
        assert_eq!(a.async_io(Interest::WRITABLE, write).await.unwrap(), 4);
        let mut back = [0; 4];
        b.read_exact(&mut back).await.unwrap();
        assert_eq!(&back, b"back");

        // What it says is handed on.
        let error = a.async_io(Interest::READABLE, || Err::<(), _>(io::Error::other("no"))).await;
        assert_eq!(error.unwrap_err().to_string(), "no");
    });
}

#[test]
fn an_operation_that_would_block_is_remembered() {
    run(|| async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.writable().await.unwrap();
        let would_block = || Err::<(), _>(io::Error::from(ErrorKind::WouldBlock));
        assert!(socket.try_io(Interest::WRITABLE, would_block).is_err());
        // As far as anybody knows, there is no room.
        assert!(poll_once(&mut Box::pin(socket.writable())).await.is_none());
        assert_eq!(socket.try_io(Interest::READABLE, || Ok(7)).unwrap(), 7);
    });
}

#[test]
fn a_loop_over_an_operation_that_is_always_ready_gives_way() {
    let runtime = runtime();
    runtime.block_on(async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let busy = spawn(async move {
            loop {
                socket.async_io(Interest::WRITABLE, || Ok(())).await.unwrap();
            }
        });
        busy.abort();
        assert!(busy.await.unwrap_err().is_cancelled());
    });
    assert!(runtime.shutdown(DEADLINE).is_clean());
}

/// The error of those whose runtime has gone can be told from all others.
#[test]
fn operations_on_a_runtime_that_has_shut_down_say_so() {
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let socket = runtime.block_on(UdpSocket::bind("127.0.0.1:0")).unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    assert!(runtime.shutdown(DEADLINE).is_clean());

    let mut cx = Context::from_waker(Waker::noop());
    let Poll::Ready(received) = pin!(socket.recv(&mut [0; 4])).poll(&mut cx) else {
        panic!("nobody will tell");
    };
    let error = received.unwrap_err();
    assert!(is_shutdown_error(&error), "{error}");
    let Poll::Ready(polled) = socket.poll_readable(&mut cx) else { panic!("nobody will tell") };
    assert!(is_shutdown_error(&polled.unwrap_err()));
    let Poll::Ready(accepted) = pin!(listener.accept()).poll(&mut cx) else {
        panic!("nobody will tell");
    };
    assert!(is_shutdown_error(&accepted.err().unwrap()));
    // And so does making one there.
    let _entered = handle.enter();
    let plain = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    assert!(is_shutdown_error(&UdpSocket::from_std(plain).unwrap_err()));

    // Also with something around it.
    #[derive(Debug)]
    struct Around(io::Error);
    impl std::fmt::Display for Around {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("around")
        }
    }
    impl std::error::Error for Around {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }
    let around = io::Error::new(ErrorKind::BrokenPipe, Around(io::Error::other(error)));
    assert!(is_shutdown_error(&around));
    for other in [io::Error::other("the runtime has shut down"), ErrorKind::NotFound.into()] {
        assert!(!is_shutdown_error(&other));
    }
}

/// A guard forgets what it has seen, and nothing that came later.
#[test]
fn a_guard_clears_what_it_has_seen() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        assert!(poll_once(&mut Box::pin(a.ready(Interest::READABLE))).await.is_none());
        b.write_all(b"x").await.unwrap();
        let guard = a.ready(Interest::READABLE).await.unwrap();
        assert_eq!(guard.interest(), Interest::READABLE);
        // Without being cleared, it stays.
        drop(guard);
        let guard = a.ready(Interest::READABLE).await.unwrap();
        assert_eq!(guard.try_io(|| a.try_read(&mut [0; 4])).unwrap(), 1);
        let error = guard.try_io(|| Err::<(), _>(ErrorKind::WouldBlock.into())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert!(poll_once(&mut Box::pin(a.ready(Interest::READABLE))).await.is_none());
        // The guard is of the readiness before. What comes now is not its to clear.
        b.write_all(b"y").await.unwrap();
        a.readable().await.unwrap();
        guard.clear();
        a.readable().await.unwrap();
        assert_eq!(a.try_read(&mut [0; 4]).unwrap(), 1);
    });
}
