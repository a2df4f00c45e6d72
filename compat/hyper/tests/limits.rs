//! What a client can have a connection hold: the limits that `SECURITY.md` names, as they are unless a program sets others.

mod common;

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use common::frames::{
    CONTINUATION, Client, END_STREAM, GOAWAY, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE, frame,
    head, request,
};
use common::{echo_connection, hello_response, read_response, run, send_get, tcp_pair};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use windlass_hyper::Io;
use windlass_hyper::server::Http;
use windlass_runtime::spawn;
use windlass_sync::CancellationToken;

/// As hyper has it.
const HEADERS_OF_HTTP1: usize = 100;
const STREAMS: usize = 200;
const HEADER_LIST: u32 = 16 * 1024;

/// Sends without end what begins with `start`, and returns the number of bytes until the server has had enough.
async fn send_until_refused(stream: &windlass_net::TcpStream, start: &[u8], more: &[u8]) -> usize {
    stream.write_all(start).await.unwrap();
    for sent in 1..10_000 {
        if stream.write_all(more).await.is_err() {
            return sent * more.len();
        }
    }
    panic!("the server still reads");
}

#[test]
fn a_head_without_end_is_refused() {
    run(|| async {
        let (client, serving) = echo_connection(Http::new(), &CancellationToken::new()).await;
        let start = b"GET / HTTP/1.1\r\nhost: test\r\nlong: ";
        send_until_refused(&client, start, &[b'a'; 16 * 1024]).await;
        assert!(serving.await.unwrap().is_err());
    });
}

#[test]
fn more_headers_than_a_hundred_are_refused() {
    run(|| async {
        for (headers, status) in [(HEADERS_OF_HTTP1, "200"), (HEADERS_OF_HTTP1 + 1, "431")] {
            let (client, _serving) = echo_connection(Http::new(), &CancellationToken::new()).await;
            let request = format!("GET / HTTP/1.1\r\n{}\r\n", "host: test\r\n".repeat(headers));
            client.write_all(request.as_bytes()).await.unwrap();
            let (head, _) = read_response(&client).await.unwrap();
            assert!(head.starts_with(&format!("http/1.1 {status}")), "{headers}: {head}");
        }
    });
}

/// Answers with more bytes than the buffers between two sockets hold.
async fn large(_: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from(vec![b'a'; 64 << 20]))))
}

const SHORT: Duration = Duration::from_millis(50);

#[test]
fn an_answer_that_nobody_reads_is_given_up_in_time() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        let serving = spawn(async move {
            let http = Http::new().write_timeout(SHORT);
            http.serve_connection(Io::new(server), service_fn(large), &CancellationToken::new())
                .await
        });
        send_get(&client, "/").await;
        assert!(serving.await.unwrap().is_err());
    });
}

/// With windows as large as they get, so that nothing but the socket holds the answer up.
#[test]
fn an_answer_of_http2_that_nobody_reads_is_given_up_in_time() {
    run(|| async {
        let client = Client::new(Http::new().write_timeout(SHORT), service_fn(large)).await;
        const MOST: u32 = (1 << 31) - 1;
        const ALREADY: u32 = (1 << 16) - 1;
        let of_each_stream = [&[0, 4][..], &MOST.to_be_bytes()].concat();
        client.stream.write_all(&frame(SETTINGS, 0, 0, &of_each_stream)).await.unwrap();
        let of_all = frame(WINDOW_UPDATE, 0, 0, &(MOST - ALREADY).to_be_bytes());
        client.stream.write_all(&of_all).await.unwrap();
        client.request(Method::GET, 1).await;
        assert!(client.serving.await.unwrap().is_err());
    });
}

/// A connection of HTTP/2 whose requests are never answered, and how many have got to the service.
async fn silent() -> (Client, Arc<AtomicUsize>) {
    let started = Arc::new(AtomicUsize::new(0));
    let count = started.clone();
    let service = service_fn(move |_: Request<Incoming>| {
        count.fetch_add(1, SeqCst);
        async {
            pending::<()>().await;
            hello_response()
        }
    });
    (Client::new(Http::new(), service).await, started)
}

#[test]
fn http2_announces_its_limits() {
    run(|| async {
        let (client, _) = silent().await;
        let settings = client.frame(SETTINGS).await.unwrap();
        let value = |id: u16| {
            let setting = settings.chunks(6).find(|entry| entry[..2] == id.to_be_bytes());
            setting.map(|entry| u32::from_be_bytes(entry[2..].try_into().unwrap()))
        };
        let (streams, header_list) = (3, 6);
        assert_eq!(value(streams), Some(STREAMS as u32));
        assert_eq!(value(header_list), Some(HEADER_LIST));
    });
}

#[test]
fn more_streams_than_announced_are_refused() {
    run(|| async {
        let (client, started) = silent().await;
        for number in 0..STREAMS as u32 + 10 {
            client.request(Method::GET, 2 * number + 1).await;
        }
        const REFUSED_STREAM: [u8; 4] = 7_u32.to_be_bytes();
        for _ in 0..10 {
            assert_eq!(client.frame(RST_STREAM).await.unwrap(), REFUSED_STREAM);
        }
        assert!(started.load(SeqCst) <= STREAMS);
    });
}

/// Each makes room for the next, so no more than one is there at a time, and the limit of streams does not help.
#[test]
fn requests_that_are_taken_back_at_once_end_the_connection() {
    run(|| async {
        let (client, started) = silent().await;
        const REQUESTS: u32 = 50_000;
        const CANCEL: [u8; 4] = 8_u32.to_be_bytes();
        let mut all = Vec::new();
        for number in 0..REQUESTS {
            all.extend(request(Method::GET, 2 * number + 1));
            all.extend(frame(RST_STREAM, 0, 2 * number + 1, &CANCEL));
        }
        // Whether it is told depends on how much of this the server has not read when it goes.
        let _ = client.stream.write_all(&all).await;
        let _ = client.frame(GOAWAY).await;
        assert!(client.serving.await.unwrap().is_err());
        assert!(started.load(SeqCst) < REQUESTS as usize / 10, "{started:?}");
    });
}

#[test]
fn a_head_of_http2_without_end_is_refused() {
    run(|| async {
        let (client, started) = silent().await;
        let start = frame(HEADERS, END_STREAM, 1, &head(Method::GET));
        // A header that is not remembered, with a name of one byte and a value of a hundred.
        let header = [&[0, 1, b'x', 100][..], &[b'a'; 100]].concat();
        let more = frame(CONTINUATION, 0, 1, &header.repeat(100));
        send_until_refused(&client.stream, &start, &more).await;
        assert!(client.serving.await.unwrap().is_err());
        assert_eq!(started.load(SeqCst), 0);
    });
}
