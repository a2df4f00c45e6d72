//! Our streams with tokio's traits, and `Compat` both ways: bytes, ends, halves, and errors.

#[path = "../../../tests/util/mod.rs"]
mod util;

use std::io::{ErrorKind, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWrite, AsyncWriteExt};
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_util::codec::{Framed, LengthDelimitedCodec};
use util::{runtime, wait_for};
use windlass::net::{TcpListener, TcpStream};
use windlass_tokio::{Compat, CompatExt, Io};

async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    (client, server)
}

/// Sends more than fits into the sockets' buffers, and sees all of it and the end arrive.
async fn send_through(
    mut sender: impl tokio::io::AsyncWrite + Unpin + Send + 'static,
    mut receiver: impl tokio::io::AsyncRead + Unpin,
) {
    const SIZE: usize = 8 << 20;
    let bytes: Vec<u8> = (0..SIZE).map(|index| (index / 7) as u8).collect();
    let expected = bytes.clone();
    let sending = windlass::spawn(async move {
        sender.write_all(&bytes).await.unwrap();
        sender.flush().await.unwrap();
        sender.shutdown().await.unwrap();
    });
    let mut received = Vec::new();
    receiver.read_to_end(&mut received).await.unwrap();
    sending.await.unwrap();
    assert!(received == expected, "{} bytes", received.len());
}

#[test]
fn all_bytes_and_the_end_arrive() {
    let runtime = runtime(2);
    let task = runtime.spawn(async {
        let (client, server) = pair().await;
        send_through(Io::new(client), Io::new(server)).await;
        let (client, server) = pair().await;
        send_through(client.compat(), server.compat()).await;
        let (client, server) = pair().await;
        let ((_keep, writer), (reader, _)) = (client.into_split(), server.into_split());
        send_through(Io::new(writer), Io::new(reader)).await;
    });
    wait_for(task).unwrap();
}

#[cfg(unix)]
#[test]
fn local_streams_have_the_traits_too() {
    let runtime = runtime(2);
    let task = runtime.spawn(async {
        let (client, server) = windlass::net::unix::UnixStream::pair().unwrap();
        send_through(Io::new(client), Io::new(server)).await;
    });
    wait_for(task).unwrap();
}

#[test]
fn several_buffers_are_written_in_one_call() {
    let runtime = runtime(1);
    let task = runtime.spawn(async {
        let (client, server) = pair().await;
        let (mut client, mut server) = (Io::new(client), Io::new(server));
        assert!(client.is_write_vectored());
        let parts = [IoSlice::new(b"one "), IoSlice::new(b"two")];
        let count =
            std::future::poll_fn(|cx| Pin::new(&mut client).poll_write_vectored(cx, &parts));
        assert_eq!(count.await.unwrap(), 7);
        let mut bytes = [0; 7];
        server.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"one two");
    });
    wait_for(task).unwrap();
}

#[test]
fn a_read_keeps_what_is_in_the_buffer_already() {
    let runtime = runtime(1);
    let task = runtime.spawn(async {
        let (client, server) = pair().await;
        client.write_all(b"world").await.unwrap();
        drop(client);
        let mut text = Vec::with_capacity(64);
        text.extend_from_slice(b"hello ");
        let mut server = Io::new(server);
        while server.read_buf(&mut text).await.unwrap() > 0 {}
        assert_eq!(text, b"hello world");
        let back = server.into_inner();
        assert!(back.peer_addr().is_ok());
    });
    wait_for(task).unwrap();
}

#[test]
fn there_and_back_is_the_same_stream() {
    let runtime = runtime(1);
    let task = runtime.spawn(async {
        let (client, server) = pair().await;
        // futures-io's traits, then tokio's, then futures-io's again.
        let mut client = Compat::new(Compat::new(client));
        futures_lite::AsyncWriteExt::write_all(&mut client, b"there").await.unwrap();
        futures_lite::AsyncWriteExt::close(&mut client).await.unwrap();
        let (mut text, mut server) = (String::new(), server.compat().compat());
        futures_lite::AsyncReadExt::read_to_string(&mut server, &mut text).await.unwrap();
        assert_eq!(text, "there");
    });
    wait_for(task).unwrap();
}

#[test]
fn an_error_of_the_stream_comes_through() {
    let runtime = runtime(1);
    let task = runtime.spawn(async {
        let (client, server) = pair().await;
        let mut client = Io::new(client);
        client.shutdown().await.unwrap();
        assert_eq!(client.write(b"late").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        drop(server);
        let mut nothing = [0; 1];
        assert_eq!(client.read(&mut nothing).await.unwrap(), 0);
    });
    wait_for(task).unwrap();
}

#[test]
fn a_codec_of_tokio_util_frames_our_streams() {
    let runtime = runtime(2);
    let task = runtime.spawn(async {
        let (client, server) = pair().await;
        let mut client = Framed::new(Io::new(client), LengthDelimitedCodec::new());
        let mut server = Framed::new(Io::new(server), LengthDelimitedCodec::new());
        let echo = windlass::spawn(async move {
            while let Some(frame) = server.next().await {
                server.send(frame.unwrap().freeze()).await.unwrap();
            }
        });
        for size in [0, 1, 100_000] {
            client.send(Bytes::from(vec![7; size])).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), vec![7; size]);
        }
        SinkExt::<Bytes>::close(&mut client).await.unwrap();
        echo.await.unwrap();
    });
    wait_for(task).unwrap();
}

#[test]
fn a_websocket_of_tokio_tungstenite_runs_over_our_streams() {
    let runtime = runtime(2);
    let task = runtime.spawn(async {
        let (client, server) = pair().await;
        let echo = windlass::spawn(async move {
            let mut socket = tokio_tungstenite::accept_async(Io::new(server)).await.unwrap();
            while let Some(Ok(message)) = socket.next().await {
                if message.is_text() {
                    socket.send(message).await.unwrap();
                }
            }
        });
        let (mut socket, _) =
            tokio_tungstenite::client_async("ws://localhost/", Io::new(client)).await.unwrap();
        for number in 0..100 {
            let message = Message::text(format!("message {number}"));
            socket.send(message.clone()).await.unwrap();
            assert_eq!(socket.next().await.unwrap().unwrap(), message);
        }
        socket.close(None).await.unwrap();
        while socket.next().await.is_some() {}
        echo.await.unwrap();
    });
    wait_for(task).unwrap();
}

/// Streams of either world, sought with the methods of the other.
#[test]
fn seeks_come_through_in_both_directions() {
    const TEXT: &[u8] = b"0123456789";
    let runtime = runtime(1);
    let task = runtime.spawn(async {
        let mut tokios = futures_lite::io::Cursor::new(TEXT).compat();
        let mut ours = std::io::Cursor::new(TEXT).compat();
        let mut byte = [0];
        for (position, reached) in [
            (SeekFrom::Start(4), 4),
            (SeekFrom::End(-1), 9),
            (SeekFrom::Current(-8), 2),
            // The same twice is two seeks.
            (SeekFrom::Current(1), 4),
            (SeekFrom::Current(1), 6),
        ] {
            assert_eq!(AsyncSeekExt::seek(&mut tokios, position).await.unwrap(), reached);
            assert_eq!(
                futures_lite::AsyncSeekExt::seek(&mut ours, position).await.unwrap(),
                reached
            );
            tokios.read_exact(&mut byte).await.unwrap();
            assert_eq!(byte[0], TEXT[reached as usize]);
            futures_lite::AsyncReadExt::read_exact(&mut ours, &mut byte).await.unwrap();
            assert_eq!(byte[0], TEXT[reached as usize]);
        }
        let before = SeekFrom::Current(-100);
        assert!(AsyncSeekExt::seek(&mut tokios, before).await.is_err());
        assert!(futures_lite::AsyncSeekExt::seek(&mut ours, before).await.is_err());
        assert_eq!(AsyncSeekExt::stream_position(&mut tokios).await.unwrap(), 7);
        assert_eq!(
            futures_lite::AsyncSeekExt::seek(&mut ours, SeekFrom::Current(0)).await.unwrap(),
            7
        );
    });
    wait_for(task).unwrap();
}

#[cfg(unix)]
#[test]
fn what_is_wrapped_has_its_descriptor() {
    use std::os::fd::{AsFd, AsRawFd};

    let runtime = runtime(1);
    let task = runtime.spawn(async {
        let (stream, _peer) = pair().await;
        let number = stream.as_raw_fd();
        let wrapped = Io::new(stream).compat();
        assert_eq!(wrapped.as_fd().as_raw_fd(), number);
        assert_eq!(wrapped.as_raw_fd(), number);
        assert_eq!(wrapped.get_ref().as_raw_fd(), number);
    });
    wait_for(task).unwrap();
}

/// A stream of tokio's that has to wait in the middle of its first seek.
#[derive(Default)]
struct SlowSeek {
    begun: usize,
    waited: bool,
}

impl tokio::io::AsyncSeek for SlowSeek {
    fn start_seek(mut self: Pin<&mut Self>, _: SeekFrom) -> std::io::Result<()> {
        self.begun += 1;
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<u64>> {
        match self.begun == 0 || std::mem::replace(&mut self.waited, true) {
            true => Poll::Ready(Ok(0)),
            false => Poll::Pending,
        }
    }
}

impl tokio::io::AsyncRead for SlowSeek {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        buf.put_slice(b"x");
        Poll::Ready(Ok(()))
    }
}

/// The read had moved on, and a seek to the same place was taken for the rest of the one before.
#[test]
fn a_seek_that_was_given_up_does_not_stand_for_one_after_a_read() {
    let mut stream = std::pin::pin!(SlowSeek::default().compat());
    let cx = &mut Context::from_waker(Waker::noop());
    let start = SeekFrom::Start(0);
    assert!(futures_io::AsyncSeek::poll_seek(stream.as_mut(), cx, start).is_pending());
    assert!(futures_io::AsyncRead::poll_read(stream.as_mut(), cx, &mut [0]).is_ready());
    assert!(futures_io::AsyncSeek::poll_seek(stream.as_mut(), cx, start).is_ready());
    assert_eq!(stream.get_ref().begun, 2);
}
