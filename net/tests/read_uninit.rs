//! Reads into memory that is not initialised.

mod common;

use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::pin::pin;

use common::{poll_once, run, tcp_pair};
use windlass_runtime::spawn;

#[test]
fn returns_the_bytes_that_were_read_and_nothing_at_the_end() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        a.write_all(b"hello").await.unwrap();
        let mut room = [MaybeUninit::uninit(); 64];
        let bytes = b.read_uninit(&mut room).await.unwrap();
        assert_eq!(bytes, b"hello");
        bytes.make_ascii_uppercase();
        assert_eq!(b.try_read_uninit(&mut room).unwrap_err().kind(), ErrorKind::WouldBlock);
        a.shutdown(Shutdown::Write).unwrap();
        assert!(b.read_uninit(&mut room).await.unwrap().is_empty());
        assert!(b.read_uninit(&mut []).await.unwrap().is_empty());
    });
}

#[test]
fn a_vector_keeps_what_it_has_and_grows_when_it_is_full() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let sent = common::pattern(1 << 20);
        let writer = spawn({
            let sent = sent.clone();
            async move {
                a.write_all(&sent).await.unwrap();
                a
            }
        });
        let mut got = b"before".to_vec();
        got.shrink_to_fit();
        while got.len() < 6 + sent.len() {
            let (len, capacity) = (got.len(), got.capacity());
            let count = b.read_buf(&mut got).await.unwrap();
            assert!(count > 0 && got.len() == len + count);
            assert!(len == capacity || got.capacity() == capacity, "it grew without need");
        }
        assert_eq!(&got[..6], b"before");
        assert!(got[6..] == sent);
        assert_eq!(b.try_read_buf(&mut got).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(writer.await.unwrap());
        assert_eq!(b.read_buf(&mut got).await.unwrap(), 0);
    });
}

#[test]
fn a_read_that_is_dropped_takes_nothing() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let mut got = Vec::with_capacity(16);
        {
            let mut read = pin!(b.read_buf(&mut got));
            assert!(poll_once(&mut read).await.is_none());
            a.write_all(b"kept").await.unwrap();
        }
        assert!(got.is_empty());
        assert_eq!(b.read_buf(&mut got).await.unwrap(), 4);
        assert_eq!(got, b"kept");
    });
}

/// The shortcut after a short read: bytes that come later are noticed all the same, in whatever pieces.
#[test]
fn pieces_that_come_one_by_one_are_all_noticed() {
    run(|| async {
        let (a, b) = tcp_pair().await;
        let reader = spawn(async move {
            let mut got = Vec::with_capacity(64);
            while b.read_buf(&mut got).await.unwrap() > 0 {
                b.write_all(b".").await.unwrap();
                got.reserve(8);
            }
            got
        });
        let mut answer = [0];
        for piece in common::pattern(2_000).chunks(7) {
            a.write_all(piece).await.unwrap();
            a.read_exact(&mut answer).await.unwrap();
        }
        a.shutdown(Shutdown::Write).unwrap();
        assert!(reader.await.unwrap() == common::pattern(2_000));
    });
}

#[test]
fn halves_read_into_uninitialised_memory_too() {
    run(|| async {
        let (mut a, b) = tcp_pair().await;
        let (reader, _writer) = b.into_split();
        a.write_all(b"owned").await.unwrap();
        let mut got = Vec::new();
        assert_eq!(reader.read_buf(&mut got).await.unwrap(), 5);
        let mut room = [MaybeUninit::uninit(); 8];
        let polled = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(reader.poll_read_uninit(cx, &mut room).is_pending())
        });
        assert!(polled.await);
        let (borrowed, _) = a.split();
        assert_eq!(borrowed.try_read_buf(&mut got).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[cfg(unix)]
#[test]
fn local_streams_and_pipes_do_as_well() {
    use windlass_net::unix::{UnixStream, pipe};

    run(|| async {
        let (a, b) = UnixStream::pair().unwrap();
        let mut got = Vec::with_capacity(8);
        a.write_all(b"local").await.unwrap();
        assert_eq!(b.read_buf(&mut got).await.unwrap(), 5);
        let (sender, receiver) = pipe().unwrap();
        sender.write_all(b"pipe").await.unwrap();
        drop(sender);
        got.reserve(8);
        assert_eq!(receiver.read_buf(&mut got).await.unwrap(), 4);
        assert_eq!(receiver.read_buf(&mut got).await.unwrap(), 0);
        assert_eq!(got, b"localpipe");
    });
}
