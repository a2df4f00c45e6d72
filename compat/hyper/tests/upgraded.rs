//! WebSockets of HTTP/1 at the end of their server, byte by byte.

mod common;

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use common::{read_response, run, run_virtually, tcp_pair};
use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, UPGRADE};
use hyper::rt::{Read, ReadBuf};
use hyper::service::service_fn;
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, StatusCode};
use windlass_hyper::Io;
use windlass_hyper::server::{Error, Http};
use windlass_net::TcpStream;
use windlass_runtime::spawn;
use windlass_runtime::task::{JoinHandle, consume_budget, has_budget_remaining};
use windlass_runtime::timer::{sleep, timeout};
use windlass_sync::{AutoResetEvent, CancellationToken};

/// A text of three bytes, masked with zeros.
const MESSAGE: &[u8] = &[0x81, 0x83, 0, 0, 0, 0, b'o', b'n', b'e'];
/// "Going away", as if from a client.
const GOODBYE: &[u8] = &[0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9];

type Serving = JoinHandle<Result<(), Error>>;

/// A connection on which the handshake of a WebSocket is over, with the handler's end of it.
async fn websocket(drain: &CancellationToken) -> (TcpStream, Upgraded, Serving) {
    let (client, server) = tcp_pair().await;
    let (sender, receiver) = std::sync::mpsc::channel();
    let upgraded = Arc::new(AutoResetEvent::new(false));
    let (drain, told) = (drain.clone(), upgraded.clone());
    let serving = spawn(async move {
        let upgrade = service_fn(move |request: Request<Incoming>| {
            let (sender, told) = (sender.clone(), told.clone());
            drop(spawn(async move {
                sender.send(hyper::upgrade::on(request).await.unwrap()).unwrap();
                told.set();
            }));
            let response = Response::builder()
                .status(StatusCode::SWITCHING_PROTOCOLS)
                .header(CONNECTION, "upgrade")
                .header(UPGRADE, "websocket")
                .body(Empty::<Bytes>::new());
            std::future::ready(Ok::<_, Infallible>(response.unwrap()))
        });
        let http = Http::new().linger(Duration::ZERO);
        http.serve_connection(Io::new(server), upgrade, &drain).await
    });
    let request =
        b"GET / HTTP/1.1\r\nhost: test\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    client.write_all(request).await.unwrap();
    assert!(read_response(&client).await.unwrap().0.starts_with("http/1.1 101"));
    upgraded.wait().await;
    (client, receiver.recv().unwrap(), serving)
}

/// Reads once, at most as much as a message has.
async fn read(upgraded: &mut Upgraded) -> Vec<u8> {
    let mut room = [0; MESSAGE.len()];
    let mut buf = ReadBuf::new(&mut room);
    poll_fn(|cx| Pin::new(&mut *upgraded).poll_read(cx, buf.unfilled())).await.unwrap();
    buf.filled().to_vec()
}

/// A read that is cut short because the task has used up its budget has found nothing, and there is something.
#[test]
fn a_goodbye_comes_after_the_messages_that_are_there_also_when_the_budget_is_used_up() {
    run(|| async {
        const MESSAGES: usize = 32;
        let drain = CancellationToken::new();
        let (_others, mut other, other_serving) = websocket(&drain).await;
        let (client, mut upgraded, serving) = websocket(&drain).await;
        // In one packet, so that all are there once the first is.
        client.write_all(&MESSAGE.repeat(MESSAGES)).await.unwrap();
        let reading = spawn(async move {
            let mut read_by = Vec::new();
            assert_eq!(read(&mut upgraded).await, MESSAGE);
            drain.cancel();
            // By then the other has been told too, or it is about to be.
            assert_eq!(read(&mut other).await, GOODBYE);
            while read_by.last().is_none_or(|bytes| bytes != GOODBYE) {
                while has_budget_remaining() {
                    consume_budget().await;
                }
                read_by.push(read(&mut upgraded).await);
            }
            read_by.len() - 1
        });
        assert_eq!(reading.await.unwrap(), MESSAGES - 1, "messages before the goodbye");
        drop(client);
        let _ = (serving.await.unwrap(), other_serving.await.unwrap());
    });
}

/// A client that begins a message and does not go on held up the goodbye, and with it the end.
#[test]
fn a_message_that_does_not_go_on_does_not_hold_up_the_goodbye() {
    run_virtually(async {
        let mut first = MESSAGE.to_vec();
        first[0] = 0x01;
        let drain = CancellationToken::new();
        let (client, mut upgraded, _serving) = websocket(&drain).await;
        client.write_all(&first).await.unwrap();
        assert_eq!(read(&mut upgraded).await, first);
        drain.cancel();
        let goodbye = timeout(Duration::from_secs(60), read(&mut upgraded)).await;
        assert_eq!(goodbye.expect("no goodbye"), GOODBYE);
    });
}

/// The message was lost.
#[test]
fn a_goodbye_does_not_come_between_the_frames_of_a_message() {
    run_virtually(async {
        // In two frames: a text that goes on, and the last continuation.
        let (mut first, mut last) = (MESSAGE.to_vec(), MESSAGE.to_vec());
        (first[0], last[0]) = (0x01, 0x80);
        let drain = CancellationToken::new();
        let (client, mut upgraded, _serving) = websocket(&drain).await;
        client.write_all(&first).await.unwrap();
        assert_eq!(read(&mut upgraded).await, first);
        drain.cancel();
        let reading = spawn(async move { [read(&mut upgraded).await, read(&mut upgraded).await] });
        // Until nothing more happens.
        sleep(Duration::from_secs(1)).await;
        client.write_all(&last).await.unwrap();
        assert_eq!(reading.await.unwrap(), [last, GOODBYE.to_vec()]);
    });
}
