//! A reverse proxy: passes requests on to another server with reqwest. reqwest calls tokio at run time, so `main` asks
//! for a tokio runtime beside windlass's, with one word in its attribute.
//!
//! ```text
//! cargo run -p windlass-servers --example reverse                          before a server of its own
//! cargo run -p windlass-servers --example reverse -- http://example.org    before another one
//! ```

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use reqwest::Client;
use reqwest::redirect::Policy;
use windlass::net::TcpListener;
use windlass_servers::listen;

/// The time that the backend may take to accept a connection, and between two parts of its answer.
const CONNECT: Duration = Duration::from_secs(5);
const READ: Duration = Duration::from_secs(30);

/// The headers that concern one connection, and are not passed on to the next.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    header::HOST,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// The backend, and the connections to it.
#[derive(Clone)]
struct Upstream {
    url: String,
    client: Client,
}

#[windlass::main(tokio = true)]
async fn main() -> io::Result<()> {
    let listener = listen().await?;
    let url = format!("http://{}", listener.local_addr()?);
    let behind = match std::env::args().nth(1) {
        Some(behind) => behind.trim_end_matches('/').to_owned(),
        None => start_one().await?,
    };
    println!("{url}");
    println!("  curl {url}/any/path          is answered by {behind}");
    println!("  curl -d some=text {url}/");

    let client = Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .connect_timeout(CONNECT)
        .read_timeout(READ)
        .build()
        .map_err(io::Error::other)?;
    let app = Router::new().fallback(pass_on).with_state(Upstream { url: behind, client });
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    println!("{}", windlass::axum::serve(listener, app).on_signals()?.await?);
    Ok(())
}

/// Passes a request on, and its answer back. Both bodies are streamed.
async fn pass_on(
    State(upstream): State<Upstream>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
) -> Result<Response, (StatusCode, String)> {
    let (head, body) = request.into_parts();
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
    let mut headers = end_to_end(head.headers);
    if let Ok(peer) = HeaderValue::from_str(&peer.ip().to_string()) {
        headers.append("x-forwarded-for", peer);
    }
    let url = format!("{}{path}", upstream.url);
    let mut request = upstream.client.request(head.method, url).headers(headers);
    if !body.is_end_stream() {
        request = request.body(reqwest::Body::wrap_stream(body.into_data_stream()));
    }
    let answer = request.send().await.map_err(refuse)?;
    let (status, headers) = (answer.status(), end_to_end(answer.headers().clone()));
    Ok((status, headers, Body::from_stream(answer.bytes_stream())).into_response())
}

/// Removes the headers that concern one connection: those in `HOP_BY_HOP`, and those that `Connection` names.
fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    headers
}

fn refuse(error: reqwest::Error) -> (StatusCode, String) {
    let status =
        if error.is_timeout() { StatusCode::GATEWAY_TIMEOUT } else { StatusCode::BAD_GATEWAY };
    (status, format!("{error}\n"))
}

/// Starts a server to pass requests on to, and returns its URL.
async fn start_one() -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let echo = |uri: Uri, headers: HeaderMap, body: String| async move {
        format!("{uri} for {:?}: {body}\n", headers.get("x-forwarded-for"))
    };
    let serving = windlass::axum::serve(listener, Router::new().fallback(echo));
    drop(windlass::spawn(std::future::IntoFuture::into_future(serving)));
    Ok(url)
}
