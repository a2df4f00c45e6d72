//! HTTP over TLS: the client chooses the version, and a client that speaks something else does no harm.

use std::future::{Future, IntoFuture};
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Request;
use axum::routing::get;
use futures_rustls::TlsConnector;
use futures_rustls::client::TlsStream;
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::pki_types::{CertificateDer, ServerName};
use futures_rustls::rustls::{ClientConfig, RootCertStore};
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::Incoming;
use windlass::axum::{Drain, Handshake, Switch, serve};
use windlass::hyper::{Executor, FuturesIo};
use windlass::net::{TcpListener, TcpStream};
use windlass_servers::tls;

fn run<Fut: Future<Output = ()>>(test: impl FnOnce() -> Fut + Send + 'static) {
    let (done, ended) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _done = done;
        windlass::Builder::new().workers(2).build().unwrap().block_on(test());
    });
    match ended.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the test hangs"),
        _ => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
    }
}

async fn server() -> (SocketAddr, CertificateDer<'static>, Switch) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (acceptor, certificate) = tls::acceptor().unwrap();
    let listener = Handshake::new(listener, move |stream: TcpStream| {
        let acceptor = acceptor.clone();
        async move { Ok(FuturesIo::new(acceptor.accept(stream).await?)) }
    });
    let version = |request: Request| async move { format!("{:?}", request.version()) };
    let drain = Drain::new();
    let switch = drain.switch();
    let server = serve(listener, Router::new().route("/", get(version))).drain(drain);
    drop(windlass::spawn(server.into_future()));
    (address, certificate, switch)
}

async fn connect(
    address: SocketAddr,
    certificate: &CertificateDer<'static>,
    protocol: &str,
) -> FuturesIo<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol.as_bytes()));
    FuturesIo::new(stream)
}

fn request() -> hyper::Request<Full<Bytes>> {
    hyper::Request::get("https://localhost/").body(Full::default()).unwrap()
}

async fn text(response: Response<Incoming>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_client_chooses_the_version() {
    run(|| async {
        let (address, certificate, _) = server().await;
        let stream = connect(address, &certificate, "h2").await;
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(Executor, stream).await.unwrap();
        drop(windlass::spawn(connection));
        assert_eq!(text(sender.send_request(request()).await.unwrap()).await, "HTTP/2.0");

        let stream = connect(address, &certificate, "http/1.1").await;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(stream).await.unwrap();
        drop(windlass::spawn(connection));
        assert_eq!(text(sender.send_request(request()).await.unwrap()).await, "HTTP/1.1");
    });
}

#[test]
fn a_hello_that_is_none_is_turned_away_and_others_are_served() {
    run(|| async {
        let (address, certificate, _) = server().await;
        let mut strangers = Vec::new();
        for hello in
            [&b"GET / HTTP/1.1\r\nhost: test\r\n\r\n"[..], &[0x16, 3, 1, 0xff, 0xff], &[0; 600]]
        {
            let stranger = TcpStream::connect(address).await.unwrap();
            stranger.write_all(hello).await.unwrap();
            strangers.push(stranger);
        }
        let stream = connect(address, &certificate, "h2").await;
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(Executor, stream).await.unwrap();
        drop(windlass::spawn(connection));
        assert_eq!(text(sender.send_request(request()).await.unwrap()).await, "HTTP/2.0");
        // The second client has not finished yet, so the server waits for it. The others are told what is wrong.
        for index in [0, 2] {
            let mut answer = Vec::new();
            let _ = strangers[index].read_to_end(&mut answer).await;
            assert!(!answer.starts_with(b"HTTP"));
        }
    });
}
