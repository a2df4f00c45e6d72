//! Servers and clients of both versions, over TCP and local sockets.

mod common;

use common::{echo, echo_connection, echo_server, http2_client, post, run, tcp_pair, text};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use windlass_hyper::server::Http;
use windlass_hyper::{Connector, Executor, FuturesIo, Io, Timer};
use windlass_net::TcpStream;
use windlass_runtime::spawn;
use windlass_sync::CancellationToken;

fn large() -> Bytes {
    (0..3_000_000_u32).map(|n| n as u8).collect::<Vec<_>>().into()
}

#[test]
fn http1_keeps_its_connection_for_many_requests() {
    run(|| async {
        let never = CancellationToken::new();
        let (client, serving) = echo_connection(Http::new(), &never).await;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(Io::new(client)).await.unwrap();
        drop(spawn(connection));
        for n in 0..100 {
            sender.ready().await.unwrap();
            let response = sender.send_request(post("/", format!("message {n}"))).await.unwrap();
            assert_eq!(text(response).await, format!("message {n}"));
        }
        sender.ready().await.unwrap();
        let response = sender.send_request(post("/", large())).await.unwrap();
        assert!(response.into_body().collect().await.unwrap().to_bytes() == large());
        drop(sender);
        serving.await.unwrap().unwrap();
    });
}

#[test]
fn http2_serves_streams_side_by_side() {
    run(|| async {
        let never = CancellationToken::new();
        let (client, serving) = echo_connection(Http::new(), &never).await;
        let sender = http2_client(client).await;
        let mut streams = Vec::new();
        for n in 0..100 {
            let mut sender = sender.clone();
            streams.push(spawn(async move {
                let body = if n == 50 { large() } else { format!("stream {n}").into() };
                let response = sender.send_request(post("/", body.clone())).await.unwrap();
                assert_eq!(response.version(), hyper::Version::HTTP_2);
                assert!(response.into_body().collect().await.unwrap().to_bytes() == body);
            }));
        }
        for stream in streams {
            stream.await.unwrap();
        }
        drop(sender);
        serving.await.unwrap().unwrap();
    });
}

#[test]
fn a_version_can_be_the_only_one() {
    run(|| async {
        let never = CancellationToken::new();
        let (client, serving) = echo_connection(Http::new().http2_only(), &never).await;
        common::send_get(&client, "/").await;
        drop(serving.await.unwrap().unwrap_err());
        let (client, _serving) = echo_connection(Http::new().http2_only(), &never).await;
        let mut sender = http2_client(client).await;
        assert_eq!(text(sender.send_request(post("/", "two")).await.unwrap()).await, "two");
        let (client, _serving) = echo_connection(Http::new().http1_only(), &never).await;
        common::send_get(&client, "/one").await;
        assert_eq!(common::read_response(&client).await.unwrap().1, "/one");
    });
}

/// The first bytes tell the version, however they are cut.
#[test]
fn the_first_bytes_may_come_one_by_one() {
    run(|| async {
        let never = CancellationToken::new();
        let (client, _serving) = echo_connection(Http::new(), &never).await;
        client.set_nodelay(true).unwrap();
        for byte in b"PROPFIND /odd HTTP/1.1\r\nhost: test\r\n\r\n" {
            client.write_all(&[*byte]).await.unwrap();
            windlass_runtime::yield_now().await;
        }
        assert_eq!(common::read_response(&client).await.unwrap().1, "/odd");
    });
}

#[test]
fn hyper_utils_client_finds_names_and_keeps_connections() {
    run(|| async {
        let port = echo_server().await.port();
        let client = Client::builder(Executor).pool_timer(Timer).build(Connector::new());
        for n in 0..20 {
            let uri = format!("http://localhost:{port}/{n}");
            let request = Request::get(uri).body(Full::<Bytes>::default()).unwrap();
            let response = client.request(request).await.unwrap();
            assert_eq!(text(response).await, format!("/{n}"));
        }
        let refused = client.get("https://localhost/".parse().unwrap()).await.unwrap_err();
        assert!(refused.is_connect());
    });
}

#[test]
fn a_client_gives_up_on_a_host_that_does_not_answer() {
    run(|| async {
        // Its queue is full, so connections are not answered.
        let socket = windlass_net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(0).unwrap();
        let address = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        for _ in 0..4 {
            queue.push(spawn(TcpStream::connect(address)));
        }
        let connector = Connector::new().connect_timeout(std::time::Duration::from_millis(100));
        let mut failed = false;
        for _ in 0..8 {
            let client = Client::builder(Executor).build::<_, Full<Bytes>>(connector.clone());
            let request = client.get(format!("http://{address}/").parse().unwrap());
            let limit = std::time::Duration::from_millis(500);
            // Otherwise it has found room in the queue, and waits for an answer there.
            if let Ok(Err(error)) = windlass_runtime::timer::timeout(limit, request).await {
                failed = true;
                assert!(error.is_connect());
                break;
            }
        }
        assert!(failed);
    });
}

#[test]
fn hyper_utils_server_runs_with_our_executor() {
    run(|| async {
        let mut builder = auto::Builder::new(Executor);
        builder.http1().timer(Timer).header_read_timeout(std::time::Duration::from_secs(5));
        builder.http2().timer(Timer);
        let graceful = GracefulShutdown::new();
        let (client, server) = tcp_pair().await;
        let connection = builder.serve_connection(Io::new(server), service_fn(echo)).into_owned();
        let one = spawn(graceful.watch(connection));
        let mut sender = http2_client(client).await;
        assert_eq!(text(sender.send_request(post("/", "two")).await.unwrap()).await, "two");
        let (client, server) = tcp_pair().await;
        let connection = builder.serve_connection(Io::new(server), service_fn(echo)).into_owned();
        let other = spawn(graceful.watch(connection));
        common::send_get(&client, "/one").await;
        assert_eq!(common::read_response(&client).await.unwrap().1, "/one");
        graceful.shutdown().await;
        one.await.unwrap().unwrap();
        other.await.unwrap().unwrap();
    });
}

#[test]
fn streams_of_other_libraries_are_served_by_their_futures_traits() {
    run(|| async {
        let (client, server) = tcp_pair().await;
        drop(spawn(async move {
            let never = CancellationToken::new();
            Http::new().serve_connection(FuturesIo::new(server), service_fn(echo), &never).await
        }));
        let mut sender = http2_client(client).await;
        let response = sender.send_request(post("/", large())).await.unwrap();
        assert!(response.into_body().collect().await.unwrap().to_bytes() == large());
    });
}

#[cfg(unix)]
#[test]
fn local_connections_and_halves() {
    use std::mem::MaybeUninit;
    use std::pin::Pin;

    use hyper::rt::{Read, ReadBuf, Write};
    use windlass_net::unix::UnixStream;

    run(|| async {
        let (client, server) = UnixStream::pair().unwrap();
        drop(spawn(async move {
            let never = CancellationToken::new();
            Http::new().serve_connection(Io::new(server), service_fn(echo), &never).await
        }));
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(Io::new(client)).await.unwrap();
        drop(spawn(connection));
        let response = sender.send_request(post("/", large())).await.unwrap();
        assert!(response.into_body().collect().await.unwrap().to_bytes() == large());

        let (a, b) = tcp_pair().await;
        let (reader, _writer) = a.into_split();
        let (_reader, writer) = b.into_split();
        let (mut reader, mut writer) = (Io::new(reader), Io::new(writer));
        assert!(writer.is_write_vectored());
        let parts = [std::io::IoSlice::new(b"two "), std::io::IoSlice::new(b"parts")];
        let written =
            std::future::poll_fn(|cx| Pin::new(&mut writer).poll_write_vectored(cx, &parts)).await;
        assert_eq!(written.unwrap(), 9);
        let mut room = [MaybeUninit::uninit(); 64];
        let mut buf = ReadBuf::uninit(&mut room);
        std::future::poll_fn(|cx| Pin::new(&mut reader).poll_read(cx, buf.unfilled()))
            .await
            .unwrap();
        assert_eq!(buf.filled(), b"two parts");
    });
}
