//! Copying between streams: half-close, back-pressure, time-outs, cancelling.

mod common;

use std::io::ErrorKind;
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use common::{poll_once, run, within_deadline};
use futures_io::{AsyncRead, AsyncWrite};
use windlass_net::{TcpListener, TcpStream};
use windlass_os::io::{CopyOptions, copy, copy_bidirectional};
use windlass_runtime::{Builder, timer};

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i ^ (i >> 8) ^ (i >> 16)) as u8).collect()
}

#[test]
fn copy_takes_all_and_flushes() {
    run(|| async {
        let bytes = pattern(1 << 20);
        let mut copied = Vec::new();
        assert_eq!(copy(&mut &bytes[..], &mut copied).await.unwrap(), 1 << 20);
        assert!(copied == bytes);
    });
}

#[test]
fn a_half_closed_connection_still_brings_the_answer() {
    run(|| async {
        let (client, mut left) = pair().await;
        let (mut right, server) = pair().await;
        let proxy =
            windlass_runtime::spawn(async move { copy_bidirectional(&mut left, &mut right).await });
        client.write_all(b"question").await.unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        // The server sees the end, and only then answers.
        let mut question = Vec::new();
        server.read_to_end(&mut question).await.unwrap();
        assert_eq!(question, b"question");
        server.write_all(b"the answer").await.unwrap();
        drop(server);
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, b"the answer");
        assert_eq!(proxy.await.unwrap().unwrap(), (8, 10));
    });
}

#[test]
fn megabytes_go_both_ways_at_a_time() {
    run(|| async {
        let (client, mut left) = pair().await;
        let (mut right, server) = pair().await;
        let options = CopyOptions::new().buffer_size(1000);
        let proxy = windlass_runtime::spawn(async move {
            options.copy_bidirectional(&mut left, &mut right).await
        });
        let talk = |stream: TcpStream, len: usize, expected: usize| {
            windlass_runtime::spawn(async move {
                let (reader, writer) = stream.into_split();
                let writing = windlass_runtime::spawn(async move {
                    writer.write_all(&pattern(len)).await.unwrap();
                });
                let mut got = Vec::new();
                reader.read_to_end(&mut got).await.unwrap();
                assert!(got == pattern(expected));
                writing.await.unwrap();
            })
        };
        let ends = [talk(client, 3_000_000, 2_000_000), talk(server, 2_000_000, 3_000_000)];
        for end in ends {
            end.await.unwrap();
        }
        assert_eq!(proxy.await.unwrap().unwrap(), (3_000_000, 2_000_000));
    });
}

/// A reader that always has bytes and a writer that takes some, and then no more.
struct Stuck {
    room: usize,
    asked: usize,
}

impl AsyncRead for Stuck {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<std::io::Result<usize>> {
        self.asked += buf.len();
        Poll::Ready(Ok(buf.len()))
    }
}

impl AsyncWrite for Stuck {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let n = buf.len().min(self.room);
        self.room -= n;
        if n == 0 { Poll::Pending } else { Poll::Ready(Ok(n)) }
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[test]
fn no_more_than_a_buffer_is_read_ahead_of_a_slow_writer() {
    run(|| async {
        let (mut a, mut b) = (Stuck { room: 250, asked: 0 }, Stuck { room: 120, asked: 0 });
        let options = CopyOptions::new().buffer_size(100);
        {
            let mut copying = options.copy_bidirectional(&mut a, &mut b);
            for _ in 0..10 {
                assert!(poll_once(&mut copying).await.is_none());
            }
            assert_eq!(copying.copied(), (120, 250));
        }
        assert_eq!((a.asked, b.asked), (200, 300));
    });
}

#[test]
fn streams_that_are_always_ready_let_others_have_their_turn() {
    run(|| async {
        let (mut a, mut b) =
            (Stuck { room: usize::MAX, asked: 0 }, Stuck { room: usize::MAX, asked: 0 });
        let mut copying = CopyOptions::new().copy_bidirectional(&mut a, &mut b);
        assert!(poll_once(&mut copying).await.is_none());
    });
}

#[test]
fn a_connection_on_which_nothing_moves_times_out() {
    /// Returns when the copy timed out, or `None` if the clock has jumped while something was on its way.
    async fn moves_twice() -> Option<Duration> {
        let (client, mut left) = pair().await;
        let (mut right, server) = pair().await;
        let options = CopyOptions::new().idle_timeout(Duration::from_secs(100));
        let start = timer::now();
        let proxy = windlass_runtime::spawn(async move {
            let result = options.copy_bidirectional(&mut left, &mut right).await;
            (result, timer::now())
        });
        // What moves puts it off, in either direction.
        timer::sleep(Duration::from_secs(60)).await;
        client.write_all(b"x").await.unwrap();
        server.read_exact(&mut [0]).await.ok()?;
        timer::sleep(Duration::from_secs(60)).await;
        server.write_all(b"y").await.ok()?;
        client.read_exact(&mut [0]).await.ok()?;
        let (result, ended) = proxy.await.unwrap();
        assert_eq!(result.unwrap_err().kind(), ErrorKind::TimedOut);
        Some(ended - start)
    }
    within_deadline(|| {
        // The kernel of a machine that is busy with other things may take longer to deliver than the clock waits.
        let mut attempts = (0..5).map(|_| {
            let runtime = Builder::new().workers(2).virtual_time().build().unwrap();
            runtime.block_on(moves_twice())
        });
        let on_time = Duration::from_secs(220)..Duration::from_secs(230);
        assert!(attempts.any(|after| after.is_some_and(|after| on_time.contains(&after))));
    });
}

#[test]
fn dropping_the_copy_leaves_both_streams_open() {
    run(|| async {
        let (client, mut left) = pair().await;
        let (mut right, server) = pair().await;
        assert!(
            poll_once(&mut Box::pin(copy_bidirectional(&mut left, &mut right))).await.is_none()
        );
        client.write_all(b"later").await.unwrap();
        let mut word = [0; 5];
        left.read_exact(&mut word).await.unwrap();
        assert_eq!(&word, b"later");
        right.write_all(&word).await.unwrap();
        server.read_exact(&mut word).await.unwrap();
    });
}

#[test]
fn a_peer_that_resets_the_connection_ends_the_copy_with_an_error() {
    run(|| async {
        let (client, mut left) = pair().await;
        let (mut right, _server) = pair().await;
        client.set_linger(Some(Duration::ZERO)).unwrap();
        drop(client);
        let error = copy_bidirectional(&mut left, &mut right).await.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted),
            "{error}"
        );
    });
}
