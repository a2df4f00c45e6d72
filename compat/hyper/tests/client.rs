//! hyper-util's client, and what connects it.

mod common;

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use common::run;
use http_body_util::{BodyExt, Empty};
use hyper::Uri;
use hyper::body::Bytes;
use hyper::service::service_fn;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::Connect;
use tower_service::Service;
use windlass_hyper::server::Http;
use windlass_hyper::{Connector, Executor, FuturesIo, HttpInfo, Io};
use windlass_net::{Keepalive, TcpListener, TcpStream};
use windlass_runtime::spawn;
use windlass_sync::CancellationToken;

/// Serves connections of TCP, and answers with what `hello` does.
async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(spawn(async move {
                let never = CancellationToken::new();
                Http::new()
                    .serve_connection(Io::new(stream), service_fn(common::hello), &never)
                    .await
            }));
        }
    }));
    address
}

async fn get<C>(connector: C, uri: String) -> (Option<HttpInfo>, Bytes)
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let client = Client::builder(Executor).build::<_, Empty<Bytes>>(connector);
    let response = client.get(uri.parse().unwrap()).await.unwrap();
    let info = response.extensions().get::<HttpInfo>().copied();
    (info, response.into_body().collect().await.unwrap().to_bytes())
}

#[test]
fn a_response_has_the_addresses_of_its_connection() {
    run(|| async {
        let address = server().await;
        let from = IpAddr::V4(Ipv4Addr::LOCALHOST);
        for connector in [Connector::new(), Connector::new().local_address(from)] {
            let (info, body) = get(connector, format!("http://{address}/")).await;
            let info = info.unwrap();
            assert_eq!((info.remote_addr(), info.local_addr().ip()), (address, from));
            assert_eq!(body, "hello");
        }
    });
}

#[test]
fn a_server_without_an_address_of_the_family_is_not_connected_to() {
    run(|| async {
        let address = server().await;
        let mut connector = Connector::new().local_address(IpAddr::V6(Ipv6Addr::LOCALHOST));
        let refused = connector.call(format!("http://{address}/").parse().unwrap()).await;
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::NotFound);
    });
}

#[test]
fn connections_have_the_keep_alive_that_is_set() {
    run(|| async {
        let address = server().await;
        let idle = Duration::from_secs(77);
        for set in [None, Some(Keepalive::new().idle(idle))] {
            let mut connector = Connector::new().keepalive(set);
            let io = connector.call(format!("http://{address}/").parse().unwrap()).await.unwrap();
            let keepalive = io.get_ref().keepalive().unwrap();
            assert_eq!(keepalive.and_then(|keepalive| keepalive.idle_time()), set.map(|_| idle));
        }
    });
}

/// Connects to a stream that has the traits of futures-io, as one of TLS would.
#[derive(Clone)]
struct Futures(SocketAddr);

impl Service<Uri> for Futures {
    type Response = FuturesIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _uri: Uri) -> Self::Future {
        let address = self.0;
        Box::pin(async move { Ok(FuturesIo::new(TcpStream::connect(address).await?)) })
    }
}

#[test]
fn the_client_takes_streams_of_futures_io() {
    run(|| async {
        let (info, body) = get(Futures(server().await), "http://test/".to_owned()).await;
        assert_eq!((info, body), (None, "hello".into()));
    });
}

#[cfg(unix)]
#[test]
fn the_client_connects_to_local_sockets() {
    use windlass_hyper::UnixConnector;
    use windlass_net::unix::UnixListener;

    run(|| async {
        let path = std::env::temp_dir().join(format!("windlass-client-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path).unwrap();
        let serving = spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let never = CancellationToken::new();
            Http::new().serve_connection(Io::new(stream), service_fn(common::hello), &never).await
        });
        let mut connector = UnixConnector::new(&path);
        let (_, body) = get(connector.clone(), "http://localhost/version".to_owned()).await;
        assert_eq!(body, "hello");
        serving.abort();
        let refused = connector.call("https://localhost/".parse().unwrap()).await;
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        std::fs::remove_file(&path).unwrap();
        let missing = connector.call("http://localhost/".parse().unwrap()).await;
        assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
    });
}
