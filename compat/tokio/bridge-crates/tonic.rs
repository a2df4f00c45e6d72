//! tonic, client and server, single calls and streams, unmodified inside of our tasks.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::service::TowerToHyperService;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};
use windlass::hyper::Io;
use windlass::hyper::server::Http;
use windlass::serve::Drain;
use windlass::tokio::BuilderExt;

/// The one message.
#[derive(Clone, PartialEq, prost::Message)]
pub struct Line {
    /// What is echoed.
    #[prost(string, tag = "1")]
    pub text: String,
}

mod generated {
    include!(concat!(env!("OUT_DIR"), "/bridge.Echo.rs"));
}
use generated::echo_client::EchoClient;
use generated::echo_server::{Echo, EchoServer};

struct Echoes;

#[tonic::async_trait]
impl Echo for Echoes {
    type AllStream = Pin<Box<dyn Stream<Item = Result<Line, Status>> + Send>>;

    async fn once(&self, request: Request<Line>) -> Result<Response<Line>, Status> {
        windlass::timer::sleep(Duration::from_millis(1)).await;
        let line = request.into_inner();
        windlass::spawn(async move { Ok(Response::new(line)) }).await.unwrap()
    }

    async fn all(
        &self,
        request: Request<Streaming<Line>>,
    ) -> Result<Response<Self::AllStream>, Status> {
        Ok(Response::new(Box::pin(request.into_inner())))
    }
}

fn line(number: usize) -> Line {
    Line { text: format!("line {number}") }
}

#[test]
fn calls_and_streams() {
    let runtime = windlass::Builder::new().workers(2).with_tokio().build().unwrap();
    let task = runtime.spawn(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = windlass::sync::CancellationToken::new();
        let server = windlass::spawn(
            tonic::transport::Server::builder()
                .add_service(EchoServer::new(Echoes))
                .serve_with_incoming_shutdown(
                    TcpListenerStream::new(listener),
                    stop.clone().cancelled_owned(),
                ),
        );
        let endpoint = tonic::transport::Endpoint::from_shared(url).unwrap();
        let client = EchoClient::new(endpoint.connect().await.unwrap());
        let calls: Vec<_> = (0..50)
            .map(|number| {
                let mut client = client.clone();
                windlass::spawn(async move { client.once(line(number)).await })
            })
            .collect();
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.await.unwrap().unwrap().into_inner(), line(number));
        }
        let mut client = client;
        let lines = tokio_stream::iter((0..1_000).map(line));
        let mut echoed = client.all(lines).await.unwrap().into_inner();
        let mut count = 0;
        while let Some(answer) = echoed.next().await {
            assert_eq!(answer.unwrap(), line(count));
            count += 1;
        }
        assert_eq!(count, 1_000);
        drop(client);
        stop.cancel();
        server.await.unwrap().unwrap();
    });
    runtime.block_on(task).unwrap();
    assert!(runtime.shutdown(Duration::from_secs(10)).is_clean());
}

/// Answers whether it runs on a worker.
struct Whereabouts;

fn whereabouts() -> Line {
    Line { text: windlass::worker_index().map_or("aside", |_| "on a worker").into() }
}

#[tonic::async_trait]
impl Echo for Whereabouts {
    type AllStream = Pin<Box<dyn Stream<Item = Result<Line, Status>> + Send>>;

    async fn once(&self, _request: Request<Line>) -> Result<Response<Line>, Status> {
        Ok(Response::new(whereabouts()))
    }

    async fn all(
        &self,
        request: Request<Streaming<Line>>,
    ) -> Result<Response<Self::AllStream>, Status> {
        Ok(Response::new(Box::pin(request.into_inner().map(|line| line.map(|_| whereabouts())))))
    }
}

async fn ask_where(url: String) -> String {
    let endpoint = tonic::transport::Endpoint::from_shared(url).unwrap();
    let mut client = EchoClient::new(endpoint.connect().await.unwrap());
    let once = client.once(line(0)).await.unwrap().into_inner();
    let lines = tokio_stream::iter((0..100).map(line));
    let mut all = client.all(lines).await.unwrap().into_inner();
    let mut count = 0;
    while let Some(answer) = all.next().await {
        assert_eq!(answer.unwrap(), once);
        count += 1;
    }
    assert_eq!(count, 100);
    once.text
}

/// tonic's own server gives each connection to `tokio::spawn`, and so to tokio's one thread. Its routes served by our own
/// are answered on the workers.
#[test]
fn routes_are_served_on_our_workers() {
    let runtime = windlass::Builder::new().workers(2).max_spares(0).with_tokio().build().unwrap();
    let task = runtime.spawn(async {
        let routes = tonic::service::Routes::new(EchoServer::new(Whereabouts)).into_axum_router();
        let service = TowerToHyperService::new(routes);
        let listener = windlass::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let http = Arc::new(Http::new().http2_only());
        let drain = Drain::new();
        let switch = drain.switch();
        let server = windlass::spawn(drain.serve(listener, move |stream, _peer, told| {
            let (http, service) = (http.clone(), service.clone());
            async move {
                let _ = http.serve_connection(Io::new(stream), service, &told).await;
            }
        }));
        assert_eq!(ask_where(url).await, "on a worker");
        switch.flip();
        assert!(server.await.unwrap().unwrap().is_clean());

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = tonic::transport::Server::builder().add_service(EchoServer::new(Whereabouts));
        let server = windlass::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        assert_eq!(ask_where(url).await, "aside");
        server.abort();
    });
    runtime.block_on(task).unwrap();
}
