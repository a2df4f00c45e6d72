//! hyper's hello, and a small JSON API of axum.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use axum::extract::Path;
use axum::routing::get;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use serde_json::{Value, json};

use super::{ADDRESS, say_where};

async fn hello(_request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::new(Bytes::from_static(b"hello"))))
}

/// `GET /users/7` finds a user.
fn app() -> Router {
    Router::new().route("/users/{id}", get(user))
}

async fn user(Path(id): Path<u32>) -> Json<Value> {
    Json(json!({ "id": id, "name": "Ada", "tags": ["first", "programmer"], "active": true }))
}

pub(crate) async fn hyper_on_windlass() -> io::Result<()> {
    let listener = windlass::net::TcpListener::bind(ADDRESS).await?;
    say_where(listener.local_addr()?);
    let http = Arc::new(windlass::hyper::server::Http::new());
    let serving = windlass::serve::Drain::new().serve(listener, move |stream, _peer, told| {
        let http = http.clone();
        async move {
            let _ = stream.set_nodelay(true);
            let io = windlass::hyper::Io::new(stream);
            let _ = http.serve_connection(io, service_fn(hello), &told).await;
        }
    });
    serving.await.map(drop)
}

pub(crate) async fn hyper_on_tokio() -> io::Result<()> {
    let listener = tokio::net::TcpListener::bind(ADDRESS).await?;
    say_where(listener.local_addr()?);
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new());
    let builder = Arc::new(builder);
    loop {
        let (stream, _) = listener.accept().await?;
        let builder = builder.clone();
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            let io = TokioIo::new(stream);
            let _ = builder.serve_connection_with_upgrades(io, service_fn(hello)).await;
        });
    }
}

pub(crate) async fn axum_on_windlass() -> io::Result<()> {
    let listener = windlass::net::TcpListener::bind(ADDRESS).await?;
    say_where(listener.local_addr()?);
    windlass::axum::serve(listener, app()).await.map(drop)
}

pub(crate) async fn axum_on_tokio() -> io::Result<()> {
    let listener = tokio::net::TcpListener::bind(ADDRESS).await?;
    say_where(listener.local_addr()?);
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, app()).await
}
