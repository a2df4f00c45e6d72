//! `Async` around descriptors that this crate has no types for.
#![cfg(unix)]

mod common;

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::pin::Pin;

use common::{both, poll_once, run};
use futures_io::{AsyncRead, AsyncWrite};
use windlass_net::Async;

#[test]
fn operations_wait_and_are_done_again() {
    run(|| async {
        let (a, b) = UnixStream::pair().unwrap();
        let (a, mut b) = (Async::new(a).unwrap(), Async::new(b).unwrap());
        let mut buf = [0; 8];
        let mut tries = 0;
        let read = a.read_with(|mut stream| {
            tries += 1;
            stream.read(&mut buf)
        });
        let written = b.write_with(|mut stream| stream.write(b"hello"));
        let (read, written) = both(read, written).await;
        assert_eq!((read.unwrap(), written.unwrap()), (5, 5));
        assert_eq!(&buf[..5], b"hello");
        assert!(tries >= 2);
        assert!(b.get_ref().peer_addr().is_ok() && b.get_mut().local_addr().is_ok());
        let mut b = b.into_inner();
        assert_eq!(b.read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn errors_of_the_operation_come_through() {
    run(|| async {
        let (a, _b) = UnixStream::pair().unwrap();
        let a = Async::new(a).unwrap();
        let failing = a.read_with(|_| Err::<(), _>(io::Error::other("mine"))).await;
        assert_eq!(failing.unwrap_err().to_string(), "mine");
        let blocked = a.try_read_with(|mut stream| stream.read(&mut [0]));
        assert_eq!(blocked.unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(poll_once(&mut Box::pin(a.readable())).await.is_none());
        a.writable().await.unwrap();
        a.try_write_with(|mut stream| stream.write(b"x")).unwrap();
    });
}

#[test]
fn the_traits_of_futures_io() {
    use std::future::poll_fn;
    run(|| async {
        let (a, b) = UnixStream::pair().unwrap();
        let (mut a, b) = (Async::new(a).unwrap(), Async::new(b).unwrap());
        let mut buf = [0; 8];
        let n = both(
            poll_fn(|cx| Pin::new(&mut a).poll_read(cx, &mut buf)),
            poll_fn(|cx| Pin::new(&mut &b).poll_write(cx, b"traits")),
        )
        .await
        .0;
        assert_eq!(&buf[..n.unwrap()], b"traits");
        poll_fn(|cx| Pin::new(&mut &b).poll_flush(cx)).await.unwrap();
        poll_fn(|cx| Pin::new(&mut &b).poll_close(cx)).await.unwrap();
    });
}

/// An event loop is a descriptor, too, which can be waited for in turn.
#[test]
fn descriptors_of_foreign_kinds() {
    run(|| async {
        let mut tasks = windlass_runtime::Builder::new().build_manual().unwrap();
        let foreign = Async::new_nonblocking(tasks.as_fd().try_clone_to_owned().unwrap()).unwrap();
        let handle = tasks.handle().clone();
        for _ in 0..3 {
            let spawned = handle.spawn(async {});
            foreign.readable().await.unwrap();
            tasks.ready_tasks(Some(std::time::Duration::ZERO)).unwrap().for_each(|task| task.run());
            assert!(spawned.is_finished());
            let waited = foreign.try_read_with(|_| Err::<(), _>(ErrorKind::WouldBlock.into()));
            assert_eq!(waited.unwrap_err().kind(), ErrorKind::WouldBlock);
        }
        let _: OwnedFd = foreign.into();
    });
}

#[test]
fn a_descriptor_is_registered_once() {
    run(|| async {
        let (a, _b) = UnixStream::pair().unwrap();
        let first = Async::new(&a).unwrap();
        let error = Async::new(&a).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        drop(first);
        Async::new(&a).unwrap();
    });
}

#[test]
fn regular_files_are_refused() {
    run(|| async {
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        let error = Async::new(&file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied, "{error}");
        assert!(error.to_string().contains("spawn_blocking"), "{error}");
        assert!(windlass_net::unix::pipe::Receiver::from_std(file).is_err());
    });
}
